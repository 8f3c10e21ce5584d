-- Add to the hours, minutes and seconds of each group, for all tokens and for each, what the walked trades
-- are now, less what they were. Sorted, so that two imports wait for each other in one order.
-- Needs volume_rollup_pkey.
INSERT INTO volume_rollup AS rollup
  WITH delta AS (
       SELECT wallets.blockchain,
              wallets.type,
              scope.token_id,
              grain.bucket_seconds,
              bucket_end(walked.created_at, grain.bucket_seconds) AS ends_at,
              sum(sign) AS txn,
              COALESCE(sum(sign) FILTER (WHERE value_usd IS NULL), 0) AS unpriced_txn,
              sum(value) AS volume,
              COALESCE(sum(value_usd), 0) AS volume_usd,
              COALESCE(sum(value) FILTER (WHERE value_usd IS NULL), 0) AS unpriced_volume
         FROM walked
         JOIN wallets
           ON wallets.wallet_id = walked.wallet_id
        CROSS JOIN (VALUES (3600), (60), (1)) AS grain (bucket_seconds)
        CROSS JOIN LATERAL (VALUES (0), (walked.token_id)) AS scope (token_id)
        WHERE walked.created_at > %(horizon)s
        GROUP BY wallets.blockchain, wallets.type, scope.token_id, grain.bucket_seconds, ends_at
       )
SELECT *
  FROM delta
 WHERE (txn, unpriced_txn) <> (0, 0)
    OR (volume, volume_usd, unpriced_volume) <> (0, 0, 0)
 ORDER BY blockchain, type, token_id, bucket_seconds, ends_at
    ON CONFLICT (blockchain, type, token_id, bucket_seconds, ends_at) DO UPDATE
   SET txn = rollup.txn + excluded.txn,
       unpriced_txn = rollup.unpriced_txn + excluded.unpriced_txn,
       volume = rollup.volume + excluded.volume,
       volume_usd = rollup.volume_usd + excluded.volume_usd,
       unpriced_volume = rollup.unpriced_volume + excluded.unpriced_volume
