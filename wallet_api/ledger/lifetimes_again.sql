-- The lifetimes of wallets of which positions were walked again, from all of their positions.
-- Needs positions_pkey, lifetimes_pkey.
INSERT INTO lifetimes (
       wallet_id, currency, tokens, still_holding, below_zero, above_zero_to_100, above_100_to_500, above_500,
       buy_txn, sell_txn, invested, sold, realized, realized_cost, largest_buy, best_trade, worst_trade)
SELECT position.wallet_id,
       min(native_currency(wallets.blockchain)),
       count(*),
       count(*) FILTER (WHERE position.still_holding),
       count(*) FILTER (WHERE position.bucket = 0),
       count(*) FILTER (WHERE position.bucket = 1),
       count(*) FILTER (WHERE position.bucket = 2),
       count(*) FILTER (WHERE position.bucket = 3),
       sum(position.buy_txn)::bigint,
       sum(position.sell_txn)::bigint,
       sum(position.invested),
       sum(position.sold),
       sum(position.realized),
       sum(position.realized_cost),
       max(position.largest_buy),
       max(position.best_trade),
       min(position.worst_trade)
  FROM (SELECT DISTINCT wallet_id
          FROM walked_days
         WHERE rewalk) AS again
  JOIN positions AS position
    ON position.wallet_id = again.wallet_id
  JOIN wallets
    ON wallets.wallet_id = again.wallet_id
 GROUP BY position.wallet_id
    ON CONFLICT (wallet_id) DO UPDATE
   SET tokens = excluded.tokens,
       still_holding = excluded.still_holding,
       below_zero = excluded.below_zero,
       above_zero_to_100 = excluded.above_zero_to_100,
       above_100_to_500 = excluded.above_100_to_500,
       above_500 = excluded.above_500,
       buy_txn = excluded.buy_txn,
       sell_txn = excluded.sell_txn,
       invested = excluded.invested,
       sold = excluded.sold,
       realized = excluded.realized,
       realized_cost = excluded.realized_cost,
       largest_buy = excluded.largest_buy,
       best_trade = excluded.best_trade,
       worst_trade = excluded.worst_trade
