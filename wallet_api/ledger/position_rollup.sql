-- Add to the hours and days of each position what its walked trades are now, less what they were.
-- Needs position_rollup_pkey.
INSERT INTO position_rollup AS rollup
  WITH delta AS (
       SELECT walked.wallet_id,
              grain.bucket_seconds,
              bucket_end(walked.created_at, grain.bucket_seconds) AS ends_at,
              walked.token_id,
              sum(sign * (NOT is_sell)::integer) AS buy_txn,
              sum(sign * is_sell::integer) AS sell_txn,
              sum(sign * ((state).realized_cost IS NOT NULL)::integer) AS covered_txn,
              sum(sign * (value_usd IS NULL)::integer) AS unpriced_txn,
              sum(sign * (is_sell AND (state).realized_usd IS NULL)::integer) AS unpriced_sell_txn,
              sum(sign * value) AS volume,
              COALESCE(sum(sign * value_usd), 0) AS volume_usd,
              COALESCE(sum(sign * value) FILTER (WHERE value_usd IS NULL), 0) AS unpriced_volume,
              COALESCE(sum(sign * (state).realized), 0) AS realized,
              COALESCE(sum(sign * (state).realized_cost), 0) AS realized_cost,
              COALESCE(sum(sign * (state).realized_usd), 0) AS realized_usd,
              COALESCE(sum(sign * (state).hold_seconds), 0) AS hold_seconds,
              COALESCE(sum(sign * round((state).hold_seconds * (state).realized_cost, 40)), 0) AS hold_cost
         FROM walked
        CROSS JOIN (VALUES (3600), (86400)) AS grain (bucket_seconds)
        WHERE walked.created_at > %(horizon)s
        GROUP BY walked.wallet_id, grain.bucket_seconds, ends_at, walked.token_id
       )
SELECT *
  FROM delta
 WHERE (buy_txn, sell_txn, covered_txn, unpriced_txn, unpriced_sell_txn) <> (0, 0, 0, 0, 0)
    OR (volume, volume_usd, unpriced_volume, realized, realized_cost, realized_usd, hold_seconds, hold_cost)
       <> (0, 0, 0, 0, 0, 0, 0, 0)
 ORDER BY wallet_id, bucket_seconds, ends_at, token_id
    ON CONFLICT (wallet_id, bucket_seconds, ends_at, token_id) DO UPDATE
   SET buy_txn = rollup.buy_txn + excluded.buy_txn,
       sell_txn = rollup.sell_txn + excluded.sell_txn,
       covered_txn = rollup.covered_txn + excluded.covered_txn,
       unpriced_txn = rollup.unpriced_txn + excluded.unpriced_txn,
       unpriced_sell_txn = rollup.unpriced_sell_txn + excluded.unpriced_sell_txn,
       volume = rollup.volume + excluded.volume,
       volume_usd = rollup.volume_usd + excluded.volume_usd,
       unpriced_volume = rollup.unpriced_volume + excluded.unpriced_volume,
       realized = rollup.realized + excluded.realized,
       realized_cost = rollup.realized_cost + excluded.realized_cost,
       realized_usd = rollup.realized_usd + excluded.realized_usd,
       hold_seconds = rollup.hold_seconds + excluded.hold_seconds,
       hold_cost = rollup.hold_cost + excluded.hold_cost
