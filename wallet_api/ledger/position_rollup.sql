-- Add to the days of each position what its walked trades of one sign come to, those of midnight by themselves.
-- Needs position_rollup_pkey.
INSERT INTO position_rollup AS rollup
SELECT wallet_id,
       ends_at,
       token_id,
       buy_txn,
       sell_txn,
       covered_txn,
       buys_without_usd + sells_without_usd AS unpriced_txn,
       covered_without_usd AS unpriced_sell_txn,
       invested + sold AS volume,
       invested_usd + sold_usd AS volume_usd,
       invested_without_usd + sold_without_usd AS unpriced_volume,
       realized,
       realized_cost,
       realized_usd,
       hold_seconds,
       hold_cost
  FROM walked_days
 WHERE sign = %(sign)s
   AND is_midnight = %(is_midnight)s
   AND ends_at > %(horizon)s
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
