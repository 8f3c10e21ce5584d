-- As sums.sql: the largest and the latest of trades, which cannot be subtracted again.
max(value) FILTER (WHERE NOT is_sell) AS largest_buy,
max(realized) AS best_trade,
max(created_at) AS last_seen
