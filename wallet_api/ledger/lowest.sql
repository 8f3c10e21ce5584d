-- As highest.sql: the smallest and the earliest of trades.
min(realized) AS worst_trade,
min(created_at) FILTER (WHERE NOT is_sell) AS first_buy,
min(created_at) AS first_seen
