-- The touched positions as they are after the walk: totals of the walked trades, added to what the position
-- had unless it was replayed. Needs positions_pkey, tokens_pkey.
INSERT INTO positions AS position (
       wallet_id, token_id, quantity, cost, cost_usd, acquired_at, peak, token_name,
       buy_txn, sell_txn, covered_txn, invested, sold, realized, realized_cost,
       bought_tokens, sold_tokens, invested_usd, sold_usd, invested_without_usd, sold_without_usd, realized_usd,
       buys_without_usd, sells_without_usd, covered_without_usd,
       largest_buy, best_trade, worst_trade, first_buy, first_seen, last_seen, mint)
  WITH total AS (
       SELECT wallet_id,
              token_id,
              sum(buy_txn)::bigint AS buy_txn,
              sum(sell_txn)::bigint AS sell_txn,
              sum(covered_txn)::bigint AS covered_txn,
              sum(invested) AS invested,
              sum(sold) AS sold,
              sum(realized) AS realized,
              sum(realized_cost) AS realized_cost,
              sum(bought_tokens) AS bought_tokens,
              sum(sold_tokens) AS sold_tokens,
              sum(invested_usd) AS invested_usd,
              sum(sold_usd) AS sold_usd,
              sum(invested_without_usd) AS invested_without_usd,
              sum(sold_without_usd) AS sold_without_usd,
              sum(realized_usd) AS realized_usd,
              sum(buys_without_usd)::bigint AS buys_without_usd,
              sum(sells_without_usd)::bigint AS sells_without_usd,
              sum(covered_without_usd)::bigint AS covered_without_usd,
              max(largest_buy) AS largest_buy,
              max(best_trade) AS best_trade,
              min(worst_trade) AS worst_trade,
              min(first_buy) AS first_buy,
              min(first_seen) AS first_seen,
              max(last_seen) AS last_seen
         FROM walked_days
        WHERE sign = 1
        GROUP BY wallet_id, token_id
       ),
       after AS (
       SELECT total.wallet_id,
              total.token_id,
              (walked.state).quantity,
              (walked.state).cost,
              (walked.state).cost_usd,
              (walked.state).acquired_at,
              (walked.state).peak,
              (walked.state).token_name,
              total.buy_txn + COALESCE(base.buy_txn, 0) AS buy_txn,
              total.sell_txn + COALESCE(base.sell_txn, 0) AS sell_txn,
              total.covered_txn + COALESCE(base.covered_txn, 0) AS covered_txn,
              total.invested + COALESCE(base.invested, 0) AS invested,
              total.sold + COALESCE(base.sold, 0) AS sold,
              total.realized + COALESCE(base.realized, 0) AS realized,
              total.realized_cost + COALESCE(base.realized_cost, 0) AS realized_cost,
              total.bought_tokens + COALESCE(base.bought_tokens, 0) AS bought_tokens,
              total.sold_tokens + COALESCE(base.sold_tokens, 0) AS sold_tokens,
              total.invested_usd + COALESCE(base.invested_usd, 0) AS invested_usd,
              total.sold_usd + COALESCE(base.sold_usd, 0) AS sold_usd,
              total.invested_without_usd + COALESCE(base.invested_without_usd, 0) AS invested_without_usd,
              total.sold_without_usd + COALESCE(base.sold_without_usd, 0) AS sold_without_usd,
              total.realized_usd + COALESCE(base.realized_usd, 0) AS realized_usd,
              total.buys_without_usd + COALESCE(base.buys_without_usd, 0) AS buys_without_usd,
              total.sells_without_usd + COALESCE(base.sells_without_usd, 0) AS sells_without_usd,
              total.covered_without_usd + COALESCE(base.covered_without_usd, 0) AS covered_without_usd,
              greatest(total.largest_buy, base.largest_buy) AS largest_buy,
              greatest(total.best_trade, base.best_trade) AS best_trade,
              least(total.worst_trade, base.worst_trade) AS worst_trade,
              least(total.first_buy, base.first_buy) AS first_buy,
              least(total.first_seen, base.first_seen) AS first_seen,
              total.last_seen
         FROM total
         JOIN walked
           ON walked.wallet_id = total.wallet_id
          AND walked.token_id = total.token_id
          AND walked.is_last
         LEFT JOIN known_positions AS base
           ON base.wallet_id = total.wallet_id
          AND base.token_id = total.token_id
          AND NOT walked.replay
       )
SELECT after.*,
       mint
  FROM after
  JOIN tokens
    ON tokens.token_id = after.token_id
    ON CONFLICT (wallet_id, token_id) DO UPDATE
   SET quantity = excluded.quantity,
       cost = excluded.cost,
       cost_usd = excluded.cost_usd,
       acquired_at = excluded.acquired_at,
       peak = excluded.peak,
       token_name = excluded.token_name,
       buy_txn = excluded.buy_txn,
       sell_txn = excluded.sell_txn,
       covered_txn = excluded.covered_txn,
       invested = excluded.invested,
       sold = excluded.sold,
       realized = excluded.realized,
       realized_cost = excluded.realized_cost,
       bought_tokens = excluded.bought_tokens,
       sold_tokens = excluded.sold_tokens,
       invested_usd = excluded.invested_usd,
       sold_usd = excluded.sold_usd,
       invested_without_usd = excluded.invested_without_usd,
       sold_without_usd = excluded.sold_without_usd,
       realized_usd = excluded.realized_usd,
       buys_without_usd = excluded.buys_without_usd,
       sells_without_usd = excluded.sells_without_usd,
       covered_without_usd = excluded.covered_without_usd,
       largest_buy = excluded.largest_buy,
       best_trade = excluded.best_trade,
       worst_trade = excluded.worst_trade,
       first_buy = excluded.first_buy,
       first_seen = excluded.first_seen,
       last_seen = excluded.last_seen
