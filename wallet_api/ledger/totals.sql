-- Add what was put in to the sums of positions, wallets and days, and subtract what was taken out of those of wallets. All
-- sums are linear, so that added differences equal a fresh sum.

-- day_sums --
INSERT INTO day_sums
SELECT sign,
       wallet_id,
       (created_at AT TIME ZONE 'UTC')::date AS day,
       token_id,
       sign * count(*) FILTER (WHERE NOT is_sell) AS buy_txn,
       sign * count(*) FILTER (WHERE is_sell) AS sell_txn,
       sign * count(realized_cost) AS covered_txn,
       sign * count(*) FILTER (WHERE NOT is_sell AND value_usd IS NULL) AS buys_without_usd,
       sign * count(*) FILTER (WHERE is_sell AND value_usd IS NULL) AS sells_without_usd,
       sign * (count(realized_cost) - count(realized_usd)) AS covered_without_usd,
       COALESCE(sum(realized), 0) AS realized,
       COALESCE(sum(realized_cost), 0) AS realized_cost,
       max(realized) AS best_trade,
       COALESCE(sum(value) FILTER (WHERE NOT is_sell), 0) AS invested,
       COALESCE(sum(value) FILTER (WHERE is_sell), 0) AS sold,
       COALESCE(sum(token_amount) FILTER (WHERE NOT is_sell), 0) AS bought_tokens,
       COALESCE(sum(token_amount) FILTER (WHERE is_sell), 0) AS sold_tokens,
       COALESCE(sum(value_usd) FILTER (WHERE NOT is_sell), 0) AS invested_usd,
       COALESCE(sum(value_usd) FILTER (WHERE is_sell), 0) AS sold_usd,
       COALESCE(sum(value) FILTER (WHERE NOT is_sell AND value_usd IS NULL), 0) AS invested_without_usd,
       COALESCE(sum(value) FILTER (WHERE is_sell AND value_usd IS NULL), 0) AS sold_without_usd,
       COALESCE(sum(realized_usd), 0) AS realized_usd,
       COALESCE(sum(hold_seconds), 0) AS hold_seconds,
       sign * COALESCE(sum(round(hold_seconds * realized_cost, greatest(40, scale(realized_cost)))), 0)
           AS hold_cost,
       max(value) FILTER (WHERE NOT is_sell) AS largest_buy,
       min(realized) AS worst_trade,
       min(created_at) AS first_seen,
       max(created_at) AS last_seen,
       min(created_at) FILTER (WHERE NOT is_sell) AS first_buy
  FROM (SELECT 1 AS sign, wallet_id, token_id, created_at, is_sell, token_amount, value, value_usd,
               realized, realized_cost, hold_seconds, realized_usd
          FROM walked
         UNION ALL
        SELECT -1, wallet_id, token_id, created_at, is_sell, -token_amount, -value, -value_usd,
               -realized, -realized_cost, -hold_seconds, -realized_usd
          FROM taken) AS trade
 GROUP BY sign, wallet_id, token_id, day;

-- analyze_day_sums --
ANALYZE day_sums (sign, wallet_id, token_id);

-- positions --
-- Needs positions_pkey, tokens_pkey.
INSERT INTO positions AS position (
       wallet_id, token_id, buy_txn, sell_txn, covered_txn, invested, sold, realized, realized_cost,
       bought_tokens, sold_tokens, invested_usd, sold_usd, invested_without_usd, sold_without_usd, realized_usd,
       buys_without_usd, sells_without_usd, covered_without_usd,
       largest_buy, best_trade, worst_trade, first_buy, first_seen, last_seen,
       mint, quantity, cost, cost_usd, acquired_at, peak, token_name)
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
         FROM day_sums
        WHERE sign = 1
        GROUP BY wallet_id, token_id
       )
SELECT total.*,
       tokens.mint,
       (walked.state).quantity,
       (walked.state).cost,
       (walked.state).cost_usd,
       (walked.state).acquired_at,
       (walked.state).peak,
       (walked.state).token_name
  FROM total
  JOIN walked
    ON walked.wallet_id = total.wallet_id
   AND walked.token_id = total.token_id
   AND walked.is_last
  JOIN tokens
    ON tokens.token_id = total.token_id
    ON CONFLICT (wallet_id, token_id) DO UPDATE
   SET quantity = excluded.quantity,
       cost = excluded.cost,
       cost_usd = excluded.cost_usd,
       acquired_at = excluded.acquired_at,
       peak = excluded.peak,
       token_name = excluded.token_name,
       buy_txn = position.buy_txn + excluded.buy_txn,
       sell_txn = position.sell_txn + excluded.sell_txn,
       covered_txn = position.covered_txn + excluded.covered_txn,
       invested = position.invested + excluded.invested,
       sold = position.sold + excluded.sold,
       realized = position.realized + excluded.realized,
       realized_cost = position.realized_cost + excluded.realized_cost,
       bought_tokens = position.bought_tokens + excluded.bought_tokens,
       sold_tokens = position.sold_tokens + excluded.sold_tokens,
       invested_usd = position.invested_usd + excluded.invested_usd,
       sold_usd = position.sold_usd + excluded.sold_usd,
       invested_without_usd = position.invested_without_usd + excluded.invested_without_usd,
       sold_without_usd = position.sold_without_usd + excluded.sold_without_usd,
       realized_usd = position.realized_usd + excluded.realized_usd,
       buys_without_usd = position.buys_without_usd + excluded.buys_without_usd,
       sells_without_usd = position.sells_without_usd + excluded.sells_without_usd,
       covered_without_usd = position.covered_without_usd + excluded.covered_without_usd,
       largest_buy = greatest(position.largest_buy, excluded.largest_buy),
       best_trade = greatest(position.best_trade, excluded.best_trade),
       worst_trade = least(position.worst_trade, excluded.worst_trade),
       first_buy = least(position.first_buy, excluded.first_buy),
       first_seen = least(position.first_seen, excluded.first_seen),
       last_seen = greatest(position.last_seen, excluded.last_seen);

-- lifetimes --
-- A lifetime gains what its affected positions are now, less what they were. One that was taken out is the sum of all
-- of its positions. Needs positions_pkey, lifetimes_pkey, wallets_pkey.
INSERT INTO lifetimes AS lifetime (
       wallet_id, tokens, still_holding, below_zero, above_zero_to_100, above_100_to_500, above_500,
       buy_txn, sell_txn, invested, sold, realized, realized_cost, largest_buy, best_trade, worst_trade,
       blockchain, type, last_seen, sold_below_zero, sold_above_zero_to_100, sold_above_100_to_500, sold_above_500)
  WITH changed AS MATERIALIZED (
       SELECT wallet_id,
              bool_or(is_late) AS is_late
         FROM affected
        GROUP BY wallet_id
       ),
       whole AS MATERIALIZED (
       SELECT positions.wallet_id, quantity, peak, covered_txn, buy_txn, sell_txn, invested, sold, realized,
              realized_cost, largest_buy, best_trade, worst_trade, last_seen
         FROM changed
         JOIN positions
           ON positions.wallet_id = changed.wallet_id
        WHERE changed.is_late
       ),
       continuing AS MATERIALIZED (
       SELECT affected.wallet_id,
              affected.token_id
         FROM affected
         JOIN changed
           ON changed.wallet_id = affected.wallet_id
        WHERE NOT changed.is_late
       ),
       current AS MATERIALIZED (
       SELECT positions.wallet_id, quantity, peak, covered_txn, buy_txn, sell_txn, invested, sold, realized,
              realized_cost, largest_buy, best_trade, worst_trade, last_seen
         FROM continuing
         JOIN positions
           ON positions.wallet_id = continuing.wallet_id
          AND positions.token_id = continuing.token_id
       ),
       position AS (
       SELECT part.*,
              still_held(quantity, peak) AS is_held,
              CASE WHEN covered_txn > 0
                   THEN profit_bucket(realized, realized_cost)
              END AS bucket
         FROM (SELECT 1 AS sign, whole.*
                 FROM whole
                UNION ALL
               SELECT 1, current.*
                 FROM current
                UNION ALL
               SELECT -1, continued.wallet_id, quantity, peak, covered_txn, buy_txn, sell_txn, invested, sold,
                      realized, realized_cost, largest_buy, best_trade, worst_trade, last_seen
                 FROM continued
                 JOIN changed
                   ON changed.wallet_id = continued.wallet_id
                WHERE NOT changed.is_late) AS part
       )
SELECT position.wallet_id,
       sum(sign),
       COALESCE(sum(sign) FILTER (WHERE is_held), 0),
       COALESCE(sum(sign) FILTER (WHERE bucket = 0 AND NOT is_held), 0),
       COALESCE(sum(sign) FILTER (WHERE bucket = 1 AND NOT is_held), 0),
       COALESCE(sum(sign) FILTER (WHERE bucket = 2 AND NOT is_held), 0),
       COALESCE(sum(sign) FILTER (WHERE bucket = 3 AND NOT is_held), 0),
       sum(sign * buy_txn)::bigint,
       sum(sign * sell_txn)::bigint,
       sum(sign * invested),
       sum(sign * sold),
       sum(sign * realized),
       sum(sign * realized_cost),
       max(largest_buy),
       max(best_trade),
       min(worst_trade),
       wallets.blockchain,
       wallets.type,
       max(last_seen),
       COALESCE(sum(sign) FILTER (WHERE bucket = 0), 0),
       COALESCE(sum(sign) FILTER (WHERE bucket = 1), 0),
       COALESCE(sum(sign) FILTER (WHERE bucket = 2), 0),
       COALESCE(sum(sign) FILTER (WHERE bucket = 3), 0)
  FROM position
  JOIN wallets
    ON wallets.wallet_id = position.wallet_id
 GROUP BY position.wallet_id, wallets.blockchain, wallets.type
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
       last_seen = greatest(lifetime.last_seen, excluded.last_seen),
       sold_below_zero = lifetime.sold_below_zero + excluded.sold_below_zero,
       sold_above_zero_to_100 = lifetime.sold_above_zero_to_100 + excluded.sold_above_zero_to_100,
       sold_above_100_to_500 = lifetime.sold_above_100_to_500 + excluded.sold_above_100_to_500,
       sold_above_500 = lifetime.sold_above_500 + excluded.sold_above_500;

-- position_days --
-- Those of late positions were taken out. Days that no period reaches any more are not kept. Needs position_days_pkey.
INSERT INTO position_days AS total (
       wallet_id, day, token_id, buy_txn, sell_txn, covered_txn, buys_without_usd, sells_without_usd,
       covered_without_usd, invested, sold, bought_tokens, sold_tokens, invested_usd, sold_usd,
       invested_without_usd, sold_without_usd, realized, realized_cost, realized_usd, hold_seconds, hold_cost,
       largest_buy, best_trade, worst_trade, first_seen, last_seen)
SELECT wallet_id, day, token_id, buy_txn, sell_txn, covered_txn, buys_without_usd, sells_without_usd,
       covered_without_usd, invested, sold, bought_tokens, sold_tokens, invested_usd, sold_usd,
       invested_without_usd, sold_without_usd, realized, realized_cost, realized_usd, hold_seconds, hold_cost,
       largest_buy, best_trade, worst_trade, first_seen, last_seen
  FROM day_sums
 WHERE sign = 1
   AND day >= %(first_day)s
 ORDER BY wallet_id, day, token_id
    ON CONFLICT (wallet_id, day, token_id) DO UPDATE
   SET buy_txn = total.buy_txn + excluded.buy_txn,
       sell_txn = total.sell_txn + excluded.sell_txn,
       covered_txn = total.covered_txn + excluded.covered_txn,
       buys_without_usd = total.buys_without_usd + excluded.buys_without_usd,
       sells_without_usd = total.sells_without_usd + excluded.sells_without_usd,
       covered_without_usd = total.covered_without_usd + excluded.covered_without_usd,
       invested = total.invested + excluded.invested,
       sold = total.sold + excluded.sold,
       bought_tokens = total.bought_tokens + excluded.bought_tokens,
       sold_tokens = total.sold_tokens + excluded.sold_tokens,
       invested_usd = total.invested_usd + excluded.invested_usd,
       sold_usd = total.sold_usd + excluded.sold_usd,
       invested_without_usd = total.invested_without_usd + excluded.invested_without_usd,
       sold_without_usd = total.sold_without_usd + excluded.sold_without_usd,
       realized = total.realized + excluded.realized,
       realized_cost = total.realized_cost + excluded.realized_cost,
       realized_usd = total.realized_usd + excluded.realized_usd,
       hold_seconds = total.hold_seconds + excluded.hold_seconds,
       hold_cost = total.hold_cost + excluded.hold_cost,
       largest_buy = greatest(total.largest_buy, excluded.largest_buy),
       best_trade = greatest(total.best_trade, excluded.best_trade),
       worst_trade = least(total.worst_trade, excluded.worst_trade),
       first_seen = least(total.first_seen, excluded.first_seen),
       last_seen = greatest(total.last_seen, excluded.last_seen);

-- expired_position_days --
-- Needs position_days_pkey.
DELETE FROM position_days
 USING (SELECT DISTINCT wallet_id FROM affected) AS changed
 WHERE position_days.wallet_id = changed.wallet_id
   AND position_days.day < %(first_day)s;

-- wallet_days --
-- A token is counted once a day, and as new once a month: a continued position goes on after the day of its last trade.
-- Needs wallet_days_pkey.
INSERT INTO wallet_days AS total (
       wallet_id, day, buy_txn, sell_txn, covered_txn, buys_without_usd, sells_without_usd, covered_without_usd,
       tokens, new_tokens, bought, sold, bought_usd, sold_usd, bought_without_usd, sold_without_usd,
       realized, realized_cost, realized_usd, hold_seconds, hold_cost)
  WITH dated AS (
       SELECT day_sums.*,
              lag(day_sums.day, 1, (continued.last_seen AT TIME ZONE 'UTC')::date)
                  OVER (PARTITION BY sign, day_sums.wallet_id, day_sums.token_id ORDER BY day_sums.day)
                  AS previous_day
         FROM day_sums
         LEFT JOIN continued
           ON continued.wallet_id = day_sums.wallet_id
          AND continued.token_id = day_sums.token_id
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
   SET buy_txn = total.buy_txn + excluded.buy_txn,
       sell_txn = total.sell_txn + excluded.sell_txn,
       covered_txn = total.covered_txn + excluded.covered_txn,
       buys_without_usd = total.buys_without_usd + excluded.buys_without_usd,
       sells_without_usd = total.sells_without_usd + excluded.sells_without_usd,
       covered_without_usd = total.covered_without_usd + excluded.covered_without_usd,
       tokens = total.tokens + excluded.tokens,
       new_tokens = total.new_tokens + excluded.new_tokens,
       bought = total.bought + excluded.bought,
       sold = total.sold + excluded.sold,
       bought_usd = total.bought_usd + excluded.bought_usd,
       sold_usd = total.sold_usd + excluded.sold_usd,
       bought_without_usd = total.bought_without_usd + excluded.bought_without_usd,
       sold_without_usd = total.sold_without_usd + excluded.sold_without_usd,
       realized = total.realized + excluded.realized,
       realized_cost = total.realized_cost + excluded.realized_cost,
       realized_usd = total.realized_usd + excluded.realized_usd,
       hold_seconds = total.hold_seconds + excluded.hold_seconds,
       hold_cost = total.hold_cost + excluded.hold_cost
