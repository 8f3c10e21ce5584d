-- What a group of wallets traded in a window: sums over the buckets that cover it exactly.
-- Needs volume_rollup_pkey, tokens_blockchain_mint_key, native_prices_pkey.
  WITH scope AS (
       SELECT CASE WHEN %(mint)s::text IS NULL THEN 0
                   ELSE (SELECT token_id
                           FROM tokens
                          WHERE blockchain = %(blockchain)s
                            AND mint = %(mint)s)
              END AS token_id
       ),
       -- One range of the index for each span. Without the sum in the subquery the planner reads all buckets of the group.
       part AS (
       SELECT within.*
         FROM scope
        CROSS JOIN unnest(%(sizes)s::integer[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
                  AS span (bucket_seconds, starts_at, ends_at)
        CROSS JOIN LATERAL (
              SELECT sum(txn) AS txn,
                     sum(unpriced_txn) AS unpriced_txn,
                     sum(volume) AS volume,
                     sum(volume_usd) AS volume_usd,
                     sum(unpriced_volume) AS unpriced_volume
                FROM volume_rollup
               WHERE volume_rollup.blockchain = %(blockchain)s
                 AND volume_rollup.type = %(type)s
                 AND volume_rollup.token_id = scope.token_id
                 AND volume_rollup.bucket_seconds = span.bucket_seconds
                 AND volume_rollup.ends_at > span.starts_at
                 AND volume_rollup.ends_at <= span.ends_at) AS within
       ),
       total AS (
       SELECT COALESCE(sum(txn), 0) AS txn,
              COALESCE(sum(unpriced_txn), 0) AS unpriced_txn,
              COALESCE(sum(volume), 0) AS volume,
              COALESCE(sum(volume_usd), 0) AS volume_usd,
              COALESCE(sum(unpriced_volume), 0) AS unpriced_volume
         FROM part
       ),
       latest AS (
       SELECT (SELECT usd
                 FROM native_prices
                WHERE currency = %(currency)s
                  AND priced_at <= %(now)s
                ORDER BY priced_at DESC
                LIMIT 1) AS usd
       )
SELECT round_half_up(volume, 9) AS volume,
       -- A trade without a dollar value counts with the latest native price.
       round_half_up(dollars(volume_usd, unpriced_volume, txn, unpriced_txn, latest.usd), 4) AS volume_usd,
       unpriced_txn > 0 AND unpriced_txn < txn AND latest.usd IS NULL AS is_partly_priced
  FROM total
 CROSS JOIN latest
