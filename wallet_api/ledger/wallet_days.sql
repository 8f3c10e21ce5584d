-- Add to the days of each wallet what its walked trades are now, less what they were. A token is counted once a
-- day, and as new once a month: an appended position continues after the day of its last trade.
-- Needs wallet_days_pkey.
INSERT INTO wallet_days AS kept (
       wallet_id, day, buy_txn, sell_txn, covered_txn, buys_without_usd, sells_without_usd, covered_without_usd,
       tokens, new_tokens, bought, sold, bought_usd, sold_usd, bought_without_usd, sold_without_usd,
       realized, realized_cost, realized_usd, hold_seconds, hold_cost)
  WITH dated AS (
       SELECT walked_days.*,
              lag(walked_days.day, 1,
                  CASE WHEN NOT walked_days.replay
                       THEN (touched.last_seen AT TIME ZONE 'UTC')::date
                  END) OVER (PARTITION BY sign, walked_days.wallet_id, walked_days.token_id
                                 ORDER BY walked_days.day) AS previous_day
         FROM walked_days
         JOIN touched
           ON touched.wallet_id = walked_days.wallet_id
          AND touched.token_id = walked_days.token_id
       ),
       delta AS (
       SELECT wallet_id,
              day,
              sum(buy_txn)::bigint AS buy_txn,
              sum(sell_txn)::bigint AS sell_txn,
              sum(covered_txn)::bigint AS covered_txn,
              sum(buys_without_usd)::bigint AS buys_without_usd,
              sum(sells_without_usd)::bigint AS sells_without_usd,
              sum(covered_without_usd)::bigint AS covered_without_usd,
              COALESCE(sum(sign) FILTER (WHERE previous_day IS DISTINCT FROM day), 0) AS tokens,
              COALESCE(sum(sign) FILTER (
                           WHERE (previous_day >= date_trunc('month', day::timestamp)) IS NOT TRUE), 0)
                  AS new_tokens,
              sum(invested) AS bought,
              sum(sold) AS sold,
              sum(invested_usd) AS bought_usd,
              sum(sold_usd) AS sold_usd,
              sum(invested_without_usd) AS bought_without_usd,
              sum(sold_without_usd) AS sold_without_usd,
              sum(realized) AS realized,
              sum(realized_cost) AS realized_cost,
              sum(realized_usd) AS realized_usd,
              sum(hold_seconds) AS hold_seconds,
              sum(hold_cost) AS hold_cost
         FROM dated
        GROUP BY wallet_id, day
       )
SELECT *
  FROM delta
 WHERE (buy_txn, sell_txn, covered_txn, buys_without_usd, sells_without_usd, covered_without_usd,
        tokens, new_tokens) <> (0, 0, 0, 0, 0, 0, 0, 0)
    OR (bought, sold, bought_usd, sold_usd, bought_without_usd, sold_without_usd,
        realized, realized_cost, realized_usd, hold_seconds, hold_cost) <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    ON CONFLICT (wallet_id, day) DO UPDATE
   SET buy_txn = kept.buy_txn + excluded.buy_txn,
       sell_txn = kept.sell_txn + excluded.sell_txn,
       covered_txn = kept.covered_txn + excluded.covered_txn,
       buys_without_usd = kept.buys_without_usd + excluded.buys_without_usd,
       sells_without_usd = kept.sells_without_usd + excluded.sells_without_usd,
       covered_without_usd = kept.covered_without_usd + excluded.covered_without_usd,
       tokens = kept.tokens + excluded.tokens,
       new_tokens = kept.new_tokens + excluded.new_tokens,
       bought = kept.bought + excluded.bought,
       sold = kept.sold + excluded.sold,
       bought_usd = kept.bought_usd + excluded.bought_usd,
       sold_usd = kept.sold_usd + excluded.sold_usd,
       bought_without_usd = kept.bought_without_usd + excluded.bought_without_usd,
       sold_without_usd = kept.sold_without_usd + excluded.sold_without_usd,
       realized = kept.realized + excluded.realized,
       realized_cost = kept.realized_cost + excluded.realized_cost,
       realized_usd = kept.realized_usd + excluded.realized_usd,
       hold_seconds = kept.hold_seconds + excluded.hold_seconds,
       hold_cost = kept.hold_cost + excluded.hold_cost
