-- When the newest trade of each group was made. A group whose trades are all older than the rollup of seconds has no row.
-- Needs volume_rollup_pkey.
SELECT tracked.blockchain,
       tracked.type,
       newest.ends_at
  FROM unnest(%(blockchains)s::text[], %(types)s::text[]) AS tracked (blockchain, type)
 CROSS JOIN LATERAL (SELECT max(ends_at) AS ends_at
                       FROM volume_rollup
                      WHERE volume_rollup.blockchain = tracked.blockchain
                        AND volume_rollup.type = tracked.type
                        AND volume_rollup.token_id = 0
                        AND volume_rollup.bucket_seconds = 1) AS newest
 WHERE newest.ends_at IS NOT NULL
