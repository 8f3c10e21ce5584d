-- Add what was put in to the sums of positions, wallets and days, and subtract what was taken out of those of wallets. All
-- sums are linear, so that added differences equal a fresh sum.

-- day_sums --
INSERT INTO day_sums (
       sign, wallet_id, token_id, day,
{sums: $},
{highest: $},
{lowest: $})
SELECT 1 AS sign,
       wallet_id,
       token_id,
       (created_at AT TIME ZONE 'UTC')::date AS day,
{sums},
{highest},
{lowest}
  FROM walked
 GROUP BY wallet_id, token_id, day
 UNION ALL
SELECT -1 AS sign,
       wallet_id,
       token_id,
       (created_at AT TIME ZONE 'UTC')::date AS day,
{sums},
{highest},
{lowest}
  FROM taken
 GROUP BY wallet_id, token_id, day;

-- analyze_day_sums --
ANALYZE day_sums (sign, wallet_id, token_id);

-- positions --
-- Needs positions_pkey, tokens_pkey.
INSERT INTO positions AS total (
       wallet_id, token_id,
{sums: $},
{highest: $},
{lowest: $},
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
-- Those of late positions were taken out. Days that no period reaches any more are not kept. Needs position_days_pkey.
INSERT INTO position_days AS total (
       wallet_id, day, token_id,
{sums: $},
{highest: $},
{lowest: $})
SELECT wallet_id,
       day,
       token_id,
{sums: $},
{highest: $},
{lowest: $}
  FROM day_sums
 WHERE sign = 1
   AND day >= %(first_day)s
 ORDER BY wallet_id, day, token_id
    ON CONFLICT (wallet_id, day, token_id) DO UPDATE
   SET
{sums: $ = total.$ + excluded.$},
{highest: $ = greatest(total.$, excluded.$)},
{lowest: $ = least(total.$, excluded.$)};

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

-- lifetimes --
-- A lifetime gains what its affected positions are now, less what they were, and the sums of their trades. One that was taken
-- out is that of all of its positions and days. Needs positions_pkey, wallet_days_pkey, lifetimes_pkey, wallets_pkey.
INSERT INTO lifetimes AS total (
       wallet_id, blockchain, type, tokens, still_holding, below_zero, above_zero_to_100, above_100_to_500, above_500,
       sold_below_zero, sold_above_zero_to_100, sold_above_100_to_500, sold_above_500,
{highest: $},
{lowest: $},
{sums: $})
  WITH changed AS MATERIALIZED (
       SELECT wallet_id,
              bool_or(is_late) AS is_late
         FROM affected
        GROUP BY wallet_id
       ),
       whole AS MATERIALIZED (
       SELECT positions.wallet_id, quantity, peak, covered_txn, realized, realized_cost,
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
       SELECT positions.wallet_id, quantity, peak, covered_txn, realized, realized_cost,
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
               SELECT -1, continued.wallet_id, quantity, peak, covered_txn, realized, realized_cost,
{highest: $},
{lowest: $}
                 FROM continued
                 JOIN changed
                   ON changed.wallet_id = continued.wallet_id
                WHERE NOT changed.is_late) AS part
       ),
       counted AS (
       SELECT wallet_id,
              sum(sign) AS tokens,
              COALESCE(sum(sign) FILTER (WHERE is_held), 0) AS still_holding,
              COALESCE(sum(sign) FILTER (WHERE bucket = 0 AND NOT is_held), 0) AS below_zero,
              COALESCE(sum(sign) FILTER (WHERE bucket = 1 AND NOT is_held), 0) AS above_zero_to_100,
              COALESCE(sum(sign) FILTER (WHERE bucket = 2 AND NOT is_held), 0) AS above_100_to_500,
              COALESCE(sum(sign) FILTER (WHERE bucket = 3 AND NOT is_held), 0) AS above_500,
              COALESCE(sum(sign) FILTER (WHERE bucket = 0), 0) AS sold_below_zero,
              COALESCE(sum(sign) FILTER (WHERE bucket = 1), 0) AS sold_above_zero_to_100,
              COALESCE(sum(sign) FILTER (WHERE bucket = 2), 0) AS sold_above_100_to_500,
              COALESCE(sum(sign) FILTER (WHERE bucket = 3), 0) AS sold_above_500,
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
SELECT counted.wallet_id, blockchain, type, tokens, still_holding, below_zero, above_zero_to_100, above_100_to_500,
       above_500, sold_below_zero, sold_above_zero_to_100, sold_above_100_to_500, sold_above_500,
{highest: $},
{lowest: $},
{sums: $}
  FROM counted
  JOIN summed
    ON summed.wallet_id = counted.wallet_id
  JOIN wallets
    ON wallets.wallet_id = counted.wallet_id
    ON CONFLICT (wallet_id) DO UPDATE
   SET tokens = total.tokens + excluded.tokens,
       still_holding = total.still_holding + excluded.still_holding,
       below_zero = total.below_zero + excluded.below_zero,
       above_zero_to_100 = total.above_zero_to_100 + excluded.above_zero_to_100,
       above_100_to_500 = total.above_100_to_500 + excluded.above_100_to_500,
       above_500 = total.above_500 + excluded.above_500,
       sold_below_zero = total.sold_below_zero + excluded.sold_below_zero,
       sold_above_zero_to_100 = total.sold_above_zero_to_100 + excluded.sold_above_zero_to_100,
       sold_above_100_to_500 = total.sold_above_100_to_500 + excluded.sold_above_100_to_500,
       sold_above_500 = total.sold_above_500 + excluded.sold_above_500,
{sums: $ = total.$ + excluded.$},
{highest: $ = greatest(total.$, excluded.$)},
{lowest: $ = least(total.$, excluded.$)}
