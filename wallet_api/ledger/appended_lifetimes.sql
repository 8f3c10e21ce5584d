-- Add what was appended to the lifetimes of wallets without a replayed position.
-- Needs positions_pkey, lifetimes_pkey, wallets_pkey.
INSERT INTO lifetimes AS lifetime (
       wallet_id, tokens, still_holding, below_zero, above_zero_to_100, above_100_to_500, above_500,
       buy_txn, sell_txn, invested, sold, realized, realized_cost, largest_buy, best_trade, worst_trade,
       blockchain, type, last_seen)
  WITH traded AS (
       SELECT wallet_id,
              sum(buy_txn)::bigint AS buy_txn,
              sum(sell_txn)::bigint AS sell_txn,
              sum(invested) AS invested,
              sum(sold) AS sold,
              sum(realized) AS realized,
              sum(realized_cost) AS realized_cost,
              max(largest_buy) AS largest_buy,
              max(best_trade) AS best_trade,
              min(worst_trade) AS worst_trade,
              max(last_seen) AS last_seen
         FROM walked_days
        GROUP BY wallet_id
       HAVING NOT bool_or(replay)
       ),
       position AS (
       SELECT touched.wallet_id,
              touched.was_held,
              touched.was_bucket,
              still_held(positions.quantity, positions.peak) AS is_held,
              CASE WHEN positions.covered_txn > 0 AND NOT still_held(positions.quantity, positions.peak)
                   THEN profit_bucket(positions.realized, positions.realized_cost)
              END AS bucket
         FROM touched
         JOIN positions
           ON positions.wallet_id = touched.wallet_id
          AND positions.token_id = touched.token_id
        WHERE NOT touched.replay
       ),
       turned AS (
       SELECT wallet_id,
              count(*) FILTER (WHERE was_held IS NULL) AS tokens,
              count(*) FILTER (WHERE is_held) - count(*) FILTER (WHERE was_held) AS still_holding,
              count(*) FILTER (WHERE bucket = 0) - count(*) FILTER (WHERE was_bucket = 0) AS below_zero,
              count(*) FILTER (WHERE bucket = 1) - count(*) FILTER (WHERE was_bucket = 1) AS above_zero_to_100,
              count(*) FILTER (WHERE bucket = 2) - count(*) FILTER (WHERE was_bucket = 2) AS above_100_to_500,
              count(*) FILTER (WHERE bucket = 3) - count(*) FILTER (WHERE was_bucket = 3) AS above_500
         FROM position
        GROUP BY wallet_id
       )
SELECT traded.wallet_id,
       turned.tokens,
       turned.still_holding,
       turned.below_zero,
       turned.above_zero_to_100,
       turned.above_100_to_500,
       turned.above_500,
       traded.buy_txn,
       traded.sell_txn,
       traded.invested,
       traded.sold,
       traded.realized,
       traded.realized_cost,
       traded.largest_buy,
       traded.best_trade,
       traded.worst_trade,
       wallets.blockchain,
       wallets.type,
       traded.last_seen
  FROM traded
  JOIN turned
    ON turned.wallet_id = traded.wallet_id
  JOIN wallets
    ON wallets.wallet_id = traded.wallet_id
    ON CONFLICT (wallet_id) DO UPDATE
   SET tokens = lifetime.tokens + excluded.tokens,
       still_holding = lifetime.still_holding + excluded.still_holding,
       below_zero = lifetime.below_zero + excluded.below_zero,
       above_zero_to_100 = lifetime.above_zero_to_100 + excluded.above_zero_to_100,
       above_100_to_500 = lifetime.above_100_to_500 + excluded.above_100_to_500,
       above_500 = lifetime.above_500 + excluded.above_500,
       buy_txn = lifetime.buy_txn + excluded.buy_txn,
       sell_txn = lifetime.sell_txn + excluded.sell_txn,
       invested = lifetime.invested + excluded.invested,
       sold = lifetime.sold + excluded.sold,
       realized = lifetime.realized + excluded.realized,
       realized_cost = lifetime.realized_cost + excluded.realized_cost,
       largest_buy = greatest(lifetime.largest_buy, excluded.largest_buy),
       best_trade = greatest(lifetime.best_trade, excluded.best_trade),
       worst_trade = least(lifetime.worst_trade, excluded.worst_trade),
       last_seen = greatest(lifetime.last_seen, excluded.last_seen)
