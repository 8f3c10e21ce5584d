-- For other statements to include, after their CTE scope (token_id), which is 0 for all tokens. It adds part: the sums of the
-- trades in each span of a window, by the buckets that cover it exactly; no row without a window.
-- Needs volume_rollup_pkey.
       -- One range of the index for each span. Without the sums in the subquery the planner reads all buckets of the group.
       part AS (
       SELECT within.*
         FROM scope
        CROSS JOIN unnest(%(sizes)s::integer[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
                  AS span (bucket_seconds, starts_at, ends_at)
        CROSS JOIN LATERAL (
              SELECT
{ledger.volumes: sum($) AS $}
                FROM volume_rollup
               WHERE volume_rollup.blockchain = %(blockchain)s
                 AND volume_rollup.type = ANY (%(types)s::text[])
                 AND volume_rollup.token_id = scope.token_id
                 AND volume_rollup.bucket_seconds = span.bucket_seconds
                 AND volume_rollup.ends_at > span.starts_at
                 AND volume_rollup.ends_at <= span.ends_at) AS within
       )
