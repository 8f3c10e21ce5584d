-- What a group of wallets traded in a window: sums over the buckets that cover it exactly.
-- Needs volume_rollup_pkey, tokens_blockchain_mint_key, native_prices_pkey.
  WITH total AS (
       SELECT COALESCE(sum(rollup.txn), 0) AS txn,
              COALESCE(sum(rollup.unpriced_txn), 0) AS unpriced_txn,
              COALESCE(sum(rollup.volume), 0) AS volume,
              COALESCE(sum(rollup.volume_usd), 0) AS volume_usd,
              COALESCE(sum(rollup.unpriced_volume), 0) AS unpriced_volume
         FROM unnest(%(sizes)s::integer[], %(starts)s::timestamptz[], %(ends)s::timestamptz[])
                  AS span (bucket_seconds, starts_at, ends_at)
         JOIN volume_rollup AS rollup
           ON rollup.blockchain = %(blockchain)s
          AND rollup.type = %(type)s
          AND rollup.token_id = CASE WHEN %(mint)s::text IS NULL THEN 0
                                     ELSE (SELECT token_id
                                             FROM tokens
                                            WHERE blockchain = %(blockchain)s
                                              AND mint = %(mint)s) END
          AND rollup.bucket_seconds = span.bucket_seconds
          AND rollup.ends_at > span.starts_at
          AND rollup.ends_at <= span.ends_at
       )
SELECT shown(volume, 9) AS volume,
       shown(usd_total(txn, unpriced_txn, volume_usd, unpriced_volume, latest.usd), 4) AS volume_usd,
       unpriced_txn > 0 AND unpriced_txn < txn AND latest.usd IS NULL AS is_partly_priced
  FROM total
 CROSS JOIN latest_price(%(blockchain)s, %(now)s) AS latest (usd)
