-- Sum the lifetimes of wallets with a replayed position from all of their positions.
-- Needs positions_pkey, lifetimes_pkey, wallets_pkey.
INSERT INTO lifetimes AS lifetime (
       wallet_id, tokens, still_holding, below_zero, above_zero_to_100, above_100_to_500, above_500,
       buy_txn, sell_txn, invested, sold, realized, realized_cost, largest_buy, best_trade, worst_trade,
       blockchain, type, last_seen)
  WITH position AS (
       SELECT positions.*,
              still_held(quantity, peak) AS is_held,
              CASE WHEN covered_txn > 0 AND NOT still_held(quantity, peak)
                   THEN profit_bucket(realized, realized_cost)
              END AS bucket
         FROM (SELECT DISTINCT wallet_id
                 FROM walked_days
                WHERE replay) AS replayed
         JOIN positions
           ON positions.wallet_id = replayed.wallet_id
       )
SELECT position.wallet_id,
       count(*),
       count(*) FILTER (WHERE is_held),
       count(*) FILTER (WHERE bucket = 0),
       count(*) FILTER (WHERE bucket = 1),
       count(*) FILTER (WHERE bucket = 2),
       count(*) FILTER (WHERE bucket = 3),
       sum(buy_txn)::bigint,
       sum(sell_txn)::bigint,
       sum(invested),
       sum(sold),
       sum(realized),
       sum(realized_cost),
       max(largest_buy),
       max(best_trade),
       min(worst_trade),
       wallets.blockchain,
       wallets.type,
       max(last_seen)
  FROM position
  JOIN wallets
    ON wallets.wallet_id = position.wallet_id
 GROUP BY position.wallet_id, wallets.blockchain, wallets.type
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
       worst_trade = excluded.worst_trade,
       last_seen = excluded.last_seen
