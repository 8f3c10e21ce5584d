-- Add to the days of each position what its walked trades are now, less what they were.
-- Needs position_rollup_pkey.
INSERT INTO position_rollup AS rollup
  WITH delta AS (
       SELECT wallet_id,
              bucket_end(created_at, 86400) AS ends_at,
              token_id,
              sum(sign) FILTER (WHERE NOT is_sell) AS buy_txn,
              sum(sign) FILTER (WHERE is_sell) AS sell_txn,
              sum(sign) FILTER (WHERE realized_cost IS NOT NULL) AS covered_txn,
              sum(sign) FILTER (WHERE value_usd IS NULL) AS unpriced_txn,
              sum(sign) FILTER (WHERE is_sell AND realized_usd IS NULL) AS unpriced_sell_txn,
              sum(value) AS volume,
              sum(value_usd) AS volume_usd,
              sum(value) FILTER (WHERE value_usd IS NULL) AS unpriced_volume,
              sum(realized) AS realized,
              sum(realized_cost) AS realized_cost,
              sum(realized_usd) AS realized_usd,
              sum(hold_seconds) AS hold_seconds,
              sum(sign * round(hold_seconds * realized_cost, greatest(40, scale(realized_cost)))) AS hold_cost
         FROM walked
        WHERE created_at > %(horizon)s
        GROUP BY wallet_id, ends_at, token_id
       )
SELECT wallet_id,
       ends_at,
       token_id,
       COALESCE(buy_txn, 0),
       COALESCE(sell_txn, 0),
       COALESCE(covered_txn, 0),
       COALESCE(unpriced_txn, 0),
       COALESCE(unpriced_sell_txn, 0),
       volume,
       COALESCE(volume_usd, 0),
       COALESCE(unpriced_volume, 0),
       COALESCE(realized, 0),
       COALESCE(realized_cost, 0),
       COALESCE(realized_usd, 0),
       COALESCE(hold_seconds, 0),
       COALESCE(hold_cost, 0)
  FROM delta
 ORDER BY wallet_id, ends_at, token_id
    ON CONFLICT (wallet_id, ends_at, token_id) DO UPDATE
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
