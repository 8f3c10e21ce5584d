-- Add to each group's hours, minutes and seconds of all tokens, and hours and seconds of each token, what the
-- walked trades are now, less what they were. Sorted, so that two imports wait for each other in one order.
-- Needs volume_rollup_pkey.
INSERT INTO volume_rollup AS rollup
  WITH delta AS (
       SELECT wallets.blockchain,
              wallets.type,
              bucket.token_id,
              bucket.bucket_seconds,
              bucket_end(walked.created_at, bucket.bucket_seconds) AS ends_at,
              sum(sign) AS txn,
              COALESCE(sum(sign) FILTER (WHERE value_usd IS NULL), 0) AS unpriced_txn,
              sum(value) AS volume,
              COALESCE(sum(value_usd), 0) AS volume_usd,
              COALESCE(sum(value) FILTER (WHERE value_usd IS NULL), 0) AS unpriced_volume
         FROM walked
         JOIN wallets
           ON wallets.wallet_id = walked.wallet_id
        CROSS JOIN LATERAL (VALUES (0, 3600), (0, 60), (0, 1), (walked.token_id, 3600), (walked.token_id, 1))
                  AS bucket (token_id, bucket_seconds)
        WHERE walked.created_at > %(horizon)s
        GROUP BY bucket.token_id, bucket.bucket_seconds, wallets.blockchain, wallets.type, ends_at
       )
SELECT *
  FROM delta
 WHERE (txn, unpriced_txn) <> (0, 0)
    OR (volume, volume_usd, unpriced_volume) <> (0, 0, 0)
 ORDER BY token_id, bucket_seconds, blockchain, type, ends_at
    ON CONFLICT (token_id, bucket_seconds, blockchain, type, ends_at) DO UPDATE
   SET txn = rollup.txn + excluded.txn,
       unpriced_txn = rollup.unpriced_txn + excluded.unpriced_txn,
       volume = rollup.volume + excluded.volume,
       volume_usd = rollup.volume_usd + excluded.volume_usd,
       unpriced_volume = rollup.unpriced_volume + excluded.unpriced_volume
