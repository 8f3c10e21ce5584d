-- Sums over the walked trades, by position and day: what positions and their days gain, and what they lose.
INSERT INTO walked_days
SELECT sign,
       replay,
       wallet_id,
       token_id,
       bucket_end(created_at, 86400) AS ends_at,
       created_at = bucket_end(created_at, 86400) AS is_midnight,
       (bucket_end(created_at, 86400) AT TIME ZONE 'UTC')::date
           - (NOT created_at = bucket_end(created_at, 86400))::integer AS day,
       sign * count(*) FILTER (WHERE NOT is_sell) AS buy_txn,
       sign * count(*) FILTER (WHERE is_sell) AS sell_txn,
       sign * count(realized_cost) AS covered_txn,
       sign * count(*) FILTER (WHERE NOT is_sell AND value_usd IS NULL) AS buys_without_usd,
       sign * count(*) FILTER (WHERE is_sell AND value_usd IS NULL) AS sells_without_usd,
       sign * (count(realized_cost) - count(realized_usd)) AS covered_without_usd,
       COALESCE(sum(value) FILTER (WHERE NOT is_sell), 0) AS invested,
       COALESCE(sum(value) FILTER (WHERE is_sell), 0) AS sold,
       COALESCE(sum(token_amount) FILTER (WHERE NOT is_sell), 0) AS bought_tokens,
       COALESCE(sum(token_amount) FILTER (WHERE is_sell), 0) AS sold_tokens,
       COALESCE(sum(value_usd) FILTER (WHERE NOT is_sell), 0) AS invested_usd,
       COALESCE(sum(value_usd) FILTER (WHERE is_sell), 0) AS sold_usd,
       COALESCE(sum(value) FILTER (WHERE NOT is_sell AND value_usd IS NULL), 0) AS invested_without_usd,
       COALESCE(sum(value) FILTER (WHERE is_sell AND value_usd IS NULL), 0) AS sold_without_usd,
       COALESCE(sum(realized), 0) AS realized,
       COALESCE(sum(realized_cost), 0) AS realized_cost,
       COALESCE(sum(realized_usd), 0) AS realized_usd,
       COALESCE(sum(hold_seconds), 0) AS hold_seconds,
       sign * COALESCE(sum(round(hold_seconds * realized_cost, greatest(40, scale(realized_cost)))), 0)
           AS hold_cost,
       max(value) FILTER (WHERE NOT is_sell) AS largest_buy,
       max(realized) AS best_trade,
       min(realized) AS worst_trade,
       min(created_at) FILTER (WHERE NOT is_sell) AS first_buy,
       min(created_at) AS first_seen,
       max(created_at) AS last_seen
  FROM walked
 GROUP BY sign, replay, wallet_id, token_id, ends_at, is_midnight
