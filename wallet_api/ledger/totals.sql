-- Add what was put in to the sums of positions, wallets and days, and subtract what was taken out of those of wallets. All
-- sums are linear, so that added differences equal a fresh sum.

-- day_sums --
-- An intraday position has no other day, neither here nor before.
INSERT INTO day_sums (
       sign, wallet_id, token_id, day, is_intraday,
{position_sums: $})
  WITH part AS (
       SELECT 1 AS sign,
              wallet_id,
              token_id,
              (created_at AT TIME ZONE 'UTC')::date AS day,
              count(*) OVER (PARTITION BY wallet_id, token_id) AS days,
{position_sums}
         FROM walked
        GROUP BY wallet_id, token_id, day
        UNION ALL
       SELECT -1 AS sign,
              wallet_id,
              token_id,
              (created_at AT TIME ZONE 'UTC')::date AS day,
              count(*) OVER (PARTITION BY wallet_id, token_id) AS days,
{position_sums}
         FROM taken
        GROUP BY wallet_id, token_id, day
       )
SELECT sign,
       part.wallet_id,
       part.token_id,
       day,
       days = 1
       AND least(day, (continued.first_seen AT TIME ZONE 'UTC')::date)
           = greatest(day, (continued.last_seen AT TIME ZONE 'UTC')::date) AS is_intraday,
{position_sums: part.$}
  FROM part
  LEFT JOIN continued
    ON continued.wallet_id = part.wallet_id
   AND continued.token_id = part.token_id;

-- analyze_day_sums --
ANALYZE day_sums (sign, wallet_id, token_id);

-- positions --
-- Needs positions_pkey, tokens_pkey.
INSERT INTO positions AS total (
       wallet_id, token_id,
{position_sums: $},
       mint, quantity, cost, cost_usd, acquired_at, peak, token_name)
  WITH added AS (
       SELECT wallet_id,
              token_id,
{sums: sum($) AS $},
{highest: max($) AS $},
{lowest: min($) AS $}
         FROM day_sums
        WHERE sign = 1
        GROUP BY wallet_id, token_id
       )
SELECT added.*,
       tokens.mint,
       (walked.state).quantity,
       (walked.state).cost,
       (walked.state).cost_usd,
       (walked.state).acquired_at,
       (walked.state).peak,
       (walked.state).token_name
  FROM added
  JOIN walked
    ON walked.wallet_id = added.wallet_id
   AND walked.token_id = added.token_id
   AND walked.is_last
  JOIN tokens
    ON tokens.token_id = added.token_id
    ON CONFLICT (wallet_id, token_id) DO UPDATE
   SET quantity = excluded.quantity,
       cost = excluded.cost,
       cost_usd = excluded.cost_usd,
       acquired_at = excluded.acquired_at,
       peak = excluded.peak,
       token_name = excluded.token_name,
{sums: $ = total.$ + excluded.$},
{highest: $ = greatest(total.$, excluded.$)},
{lowest: $ = least(total.$, excluded.$)};

-- position_days --
-- Those of late positions were taken out. Needs position_days_pkey.
INSERT INTO position_days AS total (
       wallet_id, day, token_id, is_intraday,
{position_sums: $})
SELECT wallet_id,
       day,
       token_id,
       is_intraday,
{position_sums: $}
  FROM day_sums
 WHERE sign = 1
 ORDER BY wallet_id, day, token_id
    ON CONFLICT (wallet_id, day, token_id) DO UPDATE
   SET
{sums: $ = total.$ + excluded.$},
{highest: $ = greatest(total.$, excluded.$)},
{lowest: $ = least(total.$, excluded.$)};

-- several_days --
-- The first day of what was an intraday position. Needs position_days_pkey.
UPDATE position_days
   SET is_intraday = FALSE
  FROM (SELECT DISTINCT continued.wallet_id,
               continued.token_id,
               (continued.first_seen AT TIME ZONE 'UTC')::date AS day
          FROM day_sums
          JOIN continued
            ON continued.wallet_id = day_sums.wallet_id
           AND continued.token_id = day_sums.token_id
         WHERE NOT day_sums.is_intraday) AS changed
 WHERE position_days.wallet_id = changed.wallet_id
   AND position_days.day = changed.day
   AND position_days.token_id = changed.token_id
   AND position_days.is_intraday;

-- wallet_hours --
-- Hours that no period reaches any more are not kept. Needs wallet_hours_pkey.
INSERT INTO wallet_hours AS total (
       wallet_id, starts_at,
{hours: $})
  WITH part AS (
       SELECT 1 AS sign,
              wallet_id,
              date_bin('1 hour', created_at, 'epoch') AS starts_at,
{sums}
         FROM walked
        WHERE created_at >= %(first_hour)s
        GROUP BY wallet_id, starts_at
        UNION ALL
       SELECT -1 AS sign,
              wallet_id,
              date_bin('1 hour', created_at, 'epoch') AS starts_at,
{sums}
         FROM taken
        WHERE created_at >= %(first_hour)s
        GROUP BY wallet_id, starts_at
       ),
       delta AS (
       SELECT wallet_id,
              starts_at,
{hours}
         FROM part
        GROUP BY wallet_id, starts_at
       )
SELECT *
  FROM delta
 WHERE 0 <> ANY (ARRAY[
{hours: $}])
 ORDER BY wallet_id, starts_at
    ON CONFLICT (wallet_id, starts_at) DO UPDATE
   SET
{hours: $ = total.$ + excluded.$};

-- expired_wallet_hours --
-- Needs wallet_hours_pkey.
DELETE FROM wallet_hours
 USING (SELECT DISTINCT wallet_id FROM affected) AS changed
 WHERE wallet_hours.wallet_id = changed.wallet_id
   AND wallet_hours.starts_at < %(first_hour)s;

-- wallet_days --
-- A token is counted once a day, and as new once a month: a continued position goes on after the day of its last trade.
-- Needs wallet_days_pkey.
INSERT INTO wallet_days AS total (
       wallet_id, day, tokens, new_tokens,
{sums: $})
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
              COALESCE(sum(sign) FILTER (WHERE previous_day IS DISTINCT FROM day), 0) AS tokens,
              COALESCE(sum(sign) FILTER (
                           WHERE (previous_day >= date_trunc('month', day::timestamp)) IS NOT TRUE), 0)
                  AS new_tokens,
{sums: sum(sign * $) AS $}
         FROM dated
        GROUP BY wallet_id, day
       )
SELECT *
  FROM delta
 WHERE 0 <> ANY (ARRAY[
       tokens, new_tokens,
{sums: $}])
    ON CONFLICT (wallet_id, day) DO UPDATE
   SET tokens = total.tokens + excluded.tokens,
       new_tokens = total.new_tokens + excluded.new_tokens,
{sums: $ = total.$ + excluded.$};

-- intraday_positions --
-- The intraday positions that have a covered sell, as they are and as they were.
INSERT INTO intraday_positions
SELECT sign,
       wallet_id,
       day,
       realized,
       realized_cost,
       best_trade,
       profit_bucket(realized, realized_cost) AS bucket
  FROM (SELECT sign,
               day_sums.wallet_id,
               day,
               day_sums.realized + COALESCE(continued.realized, 0) AS realized,
               day_sums.realized_cost + COALESCE(continued.realized_cost, 0) AS realized_cost,
               greatest(day_sums.best_trade, continued.best_trade) AS best_trade
          FROM day_sums
          LEFT JOIN continued
            ON continued.wallet_id = day_sums.wallet_id
           AND continued.token_id = day_sums.token_id
         WHERE is_intraday
         UNION ALL
        SELECT -1 AS sign,
               wallet_id,
               (first_seen AT TIME ZONE 'UTC')::date AS day,
               realized,
               realized_cost,
               best_trade
          FROM continued
         WHERE (first_seen AT TIME ZONE 'UTC')::date = (last_seen AT TIME ZONE 'UTC')::date) AS position
 WHERE best_trade IS NOT NULL;

-- intraday_sums --
-- Needs wallet_days_pkey.
UPDATE wallet_days AS total
   SET intraday_best_token = greatest(total.intraday_best_token, delta.best_token),
       intraday_best_trade = greatest(total.intraday_best_trade, delta.best_trade),
{intraday: $ = total.$ + delta.$}
  FROM (SELECT wallet_id,
               day,
               max(realized) FILTER (WHERE sign = 1) AS best_token,
               max(best_trade) FILTER (WHERE sign = 1) AS best_trade,
{intraday}
          FROM intraday_positions
         GROUP BY wallet_id, day) AS delta
 WHERE total.wallet_id = delta.wallet_id
   AND total.day = delta.day;

-- intraday_best --
-- Where the largest of a day are fewer now, others may be the largest. Needs wallet_days_pkey, position_days_pkey.
UPDATE wallet_days
   SET intraday_best_token = whole.best_token,
       intraday_best_trade = whole.best_trade
  FROM (SELECT changed.wallet_id,
               changed.day,
               max(position_days.realized) AS best_token,
               max(position_days.best_trade) AS best_trade
          FROM (SELECT intraday_positions.wallet_id,
                       intraday_positions.day
                  FROM intraday_positions
                  JOIN wallet_days
                    ON wallet_days.wallet_id = intraday_positions.wallet_id
                   AND wallet_days.day = intraday_positions.day
                 GROUP BY intraday_positions.wallet_id, intraday_positions.day, intraday_best_token, intraday_best_trade
                HAVING intraday_best_token IS DISTINCT FROM max(intraday_positions.realized) FILTER (WHERE sign = 1)
                   AND intraday_best_token = max(intraday_positions.realized) FILTER (WHERE sign = -1)
                    OR intraday_best_trade IS DISTINCT FROM max(intraday_positions.best_trade) FILTER (WHERE sign = 1)
                   AND intraday_best_trade = max(intraday_positions.best_trade) FILTER (WHERE sign = -1)) AS changed
          LEFT JOIN position_days
            ON position_days.wallet_id = changed.wallet_id
           AND position_days.day = changed.day
           AND position_days.is_intraday
           AND position_days.best_trade IS NOT NULL
         GROUP BY changed.wallet_id, changed.day) AS whole
 WHERE wallet_days.wallet_id = whole.wallet_id
   AND wallet_days.day = whole.day;

-- lifetimes --
-- A lifetime gains what its affected positions are now, less what they were, and the sums of their trades. One that was taken
-- out is that of all of its positions and days. Needs positions_pkey, wallet_days_pkey, lifetimes_pkey, wallets_pkey.
INSERT INTO lifetimes AS total (
       wallet_id, blockchain, type, best_token, active_days, max_drawdown, last_day, earlier_peak, earlier_drawdown,
{counts: $},
{position_sums: $})
  WITH changed AS MATERIALIZED (
       SELECT wallet_id,
              bool_or(is_late) AS is_late
         FROM affected
        GROUP BY wallet_id
       ),
       whole AS MATERIALIZED (
       SELECT positions.wallet_id, quantity, peak, cost, cost_usd, covered_txn, realized, realized_cost,
{highest: $},
{lowest: $}
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
       SELECT positions.wallet_id, quantity, peak, cost, cost_usd, covered_txn, realized, realized_cost,
{highest: $},
{lowest: $}
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
               SELECT -1, continued.wallet_id, quantity, peak, cost, cost_usd, covered_txn, realized, realized_cost,
{highest: $},
{lowest: $}
                 FROM continued
                 JOIN changed
                   ON changed.wallet_id = continued.wallet_id
                WHERE NOT changed.is_late) AS part
       ),
       counted AS (
       SELECT wallet_id,
{counts},
              greatest(max(realized) FILTER (WHERE sign = 1), 0) AS best_token,
{highest: max($) AS $},
{lowest: min($) AS $}
         FROM position
        GROUP BY wallet_id
       ),
       whole_days AS MATERIALIZED (
       SELECT wallet_days.wallet_id,
{sums: $}
         FROM changed
         JOIN wallet_days
           ON wallet_days.wallet_id = changed.wallet_id
        WHERE changed.is_late
       ),
       summed AS (
       SELECT wallet_id,
{sums: sum($) AS $}
         FROM (SELECT *
                 FROM whole_days
                UNION ALL
               SELECT day_sums.wallet_id,
{sums: $}
                 FROM changed
                 JOIN day_sums
                   ON day_sums.wallet_id = changed.wallet_id
                WHERE NOT changed.is_late) AS part
        GROUP BY wallet_id
       )
SELECT counted.wallet_id, blockchain, type, best_token, 0 AS active_days, 0 AS max_drawdown, '-infinity' AS last_day,
       0 AS earlier_peak, 0 AS earlier_drawdown,
{counts: $},
{position_sums: $}
  FROM counted
  JOIN summed
    ON summed.wallet_id = counted.wallet_id
  JOIN wallets
    ON wallets.wallet_id = counted.wallet_id
    ON CONFLICT (wallet_id) DO UPDATE
   SET best_token = greatest(total.best_token, excluded.best_token),
{counts: $ = total.$ + excluded.$},
{sums: $ = total.$ + excluded.$},
{highest: $ = greatest(total.$, excluded.$)},
{lowest: $ = least(total.$, excluded.$)};

-- best_tokens --
-- Where the token with the largest profit has less of it now, another one may have the largest. Needs positions_pkey,
-- lifetimes_pkey.
UPDATE lifetimes
   SET best_token = whole.best_token
  FROM (SELECT positions.wallet_id,
               greatest(max(positions.realized), 0) AS best_token
          FROM (SELECT DISTINCT continued.wallet_id
                  FROM continued
                  JOIN lifetimes
                    ON lifetimes.wallet_id = continued.wallet_id
                   AND lifetimes.best_token = continued.realized
                  JOIN positions
                    ON positions.wallet_id = continued.wallet_id
                   AND positions.token_id = continued.token_id
                   AND positions.realized < continued.realized
                 WHERE continued.realized > 0) AS changed
          JOIN positions
            ON positions.wallet_id = changed.wallet_id
         GROUP BY positions.wallet_id) AS whole
 WHERE lifetimes.wallet_id = whole.wallet_id;

-- drawdowns --
-- The days of a lifetime from its last day on, or all of them if an earlier one has changed. What was cumulated until the end of
-- a day is all profit but that of later days. Needs lifetimes_pkey, wallet_days_pkey.
UPDATE lifetimes
   SET active_days = path.active_days,
       max_drawdown = path.max_drawdown,
       last_day = path.last_day,
       earlier_peak = path.earlier_peak,
       earlier_drawdown = path.earlier_drawdown
  FROM (SELECT wallet_id,
               min(days_before) + count(*) AS active_days,
               max(day) AS last_day,
               greatest(min(drawdown_before), max(peak - cumulated)) AS max_drawdown,
               greatest(min(peak_before), max(peak) FILTER (WHERE NOT is_last)) AS earlier_peak,
               greatest(min(drawdown_before), max(peak - cumulated) FILTER (WHERE NOT is_last)) AS earlier_drawdown
          FROM (SELECT summed.*,
                       greatest(peak_before, max(cumulated) OVER (PARTITION BY wallet_id ORDER BY day)) AS peak
                  FROM (SELECT start.wallet_id,
                               wallet_days.day,
                               start.days_before,
                               start.peak_before,
                               start.drawdown_before,
                               start.realized + wallet_days.realized - sum(wallet_days.realized) OVER latest_first AS cumulated,
                               lag(wallet_days.day) OVER latest_first IS NULL AS is_last
                          FROM (SELECT lifetimes.wallet_id,
                                       lifetimes.realized,
                                       CASE WHEN is_continued THEN last_day ELSE '-infinity' END AS first_day,
                                       CASE WHEN is_continued THEN greatest(active_days - 1, 0) ELSE 0 END AS days_before,
                                       CASE WHEN is_continued THEN earlier_peak ELSE 0 END AS peak_before,
                                       CASE WHEN is_continued THEN earlier_drawdown ELSE 0 END AS drawdown_before
                                  FROM (SELECT wallet_id,
                                               min(day) AS first_day
                                          FROM day_sums
                                         GROUP BY wallet_id) AS changed
                                  JOIN lifetimes
                                    ON lifetimes.wallet_id = changed.wallet_id
                                 CROSS JOIN LATERAL (SELECT changed.first_day >= last_day AS is_continued) AS choice) AS start
                          JOIN wallet_days
                            ON wallet_days.wallet_id = start.wallet_id
                           AND wallet_days.day >= start.first_day
                         WHERE buy_txn + sell_txn > 0
                        WINDOW latest_first AS (PARTITION BY start.wallet_id ORDER BY wallet_days.day DESC)) AS summed) AS day
         GROUP BY wallet_id) AS path
 WHERE lifetimes.wallet_id = path.wallet_id
   AND (lifetimes.active_days, lifetimes.max_drawdown, lifetimes.last_day, lifetimes.earlier_peak,
        lifetimes.earlier_drawdown)
       IS DISTINCT FROM
       (path.active_days, path.max_drawdown, path.last_day, path.earlier_peak, path.earlier_drawdown);
