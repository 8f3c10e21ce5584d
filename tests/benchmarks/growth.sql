-- A ledger of one group of 1,000 wallets over 45 days: four trades of a wallet in a token within half an hour, a tenth of them in twelve
-- old tokens, most in the newest launches. Some wallets trade a hundred times as much as others. The results of the walk are random.

-- wallets --
INSERT INTO wallets (wallet_id, blockchain, type, address, name, image_url, twitter, telegram, copytrade_link)
SELECT number, 'solana', 'kol', 'w' || number, '', '', '', '', ''
  FROM generate_series(1, 1000) AS number;

-- tokens --
INSERT INTO tokens (token_id, blockchain, mint)
SELECT number, 'solana', 'm' || number
  FROM generate_series(1, %(trades)s / 8 + 100000) AS number;

-- prices --
INSERT INTO native_prices
SELECT 'SOL', priced_at, 180
  FROM generate_series(now() - interval '46 days', now(), interval '10 minutes') AS priced_at;

-- trades --
INSERT INTO trades (
       wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name, token_amount, value, value_usd,
       exchanged_value, realized, realized_cost, hold_seconds, realized_usd, quantity_after, peak_after, arrival)
  WITH turn AS MATERIALIZED (
       SELECT turn,
              1 + floor(least(10 * (exp(random() * ln(101)) - 1), 999))::bigint AS wallet_id,
              CASE WHEN random() < 0.1 THEN 1 + floor(random() * 12)::bigint
                   WHEN random() < 0.7 THEN greatest(100 + floor(turn / 200.0) - floor(-ln(random()) * 4), 1)::bigint
                   ELSE %(trades)s / 800 + 200 + floor(random() * %(trades)s / 10)::bigint
              END AS token_id,
              now() - interval '45 days' + turn * (interval '45 days' / (%(trades)s / 4)) AS begins_at
         FROM generate_series(0, %(trades)s / 4 - 1) AS turn
       )
SELECT wallet_id,
       token_id,
       date_trunc('second', least(begins_at + step * interval '7 minutes', now() - interval '1 second')),
       0,
       step >= 2,
       TRUE,
       md5((turn * 4 + step)::text) || md5((turn * 4 + step + 0.5)::text),
       'Token ' || token_id,
       round((1000 + random() * 9000)::numeric, 6),
       round((0.1 + random() * 3)::numeric, 9),
       round((20 + random() * 500)::numeric, 4),
       round((0.1 + random() * 3)::numeric, 9),
       CASE WHEN step >= 2 THEN round((random() * 2 - 0.9)::numeric, 9) END,
       CASE WHEN step >= 2 THEN round((0.1 + random() * 2)::numeric, 9) END,
       CASE WHEN step >= 2 THEN round((random() * 3000)::numeric) END,
       CASE WHEN step >= 2 THEN round((random() * 300 - 120)::numeric, 6) END,
       100,
       200,
       4096 + (turn * 4 + step) / 100
  FROM turn
 CROSS JOIN generate_series(0, 3) AS step;

-- position_days --
INSERT INTO position_days (
       wallet_id, token_id, day, is_intraday,
{ledger.sums: $},
{ledger.highest: $},
{ledger.lowest: $})
SELECT wallet_id,
       token_id,
       (created_at AT TIME ZONE 'UTC')::date AS day,
       count(*) OVER (PARTITION BY wallet_id, token_id) = 1,
{ledger.sums},
{ledger.highest},
{ledger.lowest}
  FROM trades
 GROUP BY wallet_id, token_id, day
 ORDER BY min(created_at);

-- positions --
INSERT INTO positions (
       wallet_id, token_id, mint, quantity, cost, cost_usd, acquired_at, peak, token_name,
{ledger.sums: $},
{ledger.highest: $},
{ledger.lowest: $})
SELECT wallet_id,
       token_id,
       'm' || token_id,
       100, 1, 1, 0, 200,
       'Token ' || token_id,
{ledger.sums},
{ledger.highest},
{ledger.lowest}
  FROM trades
 GROUP BY wallet_id, token_id
 ORDER BY min(created_at);

-- token_days --
INSERT INTO token_days (
       day, token_id, type,
{ledger.token_days: $})
SELECT day,
       token_id,
       'kol',
{ledger.token_days}
  FROM (SELECT 1 AS sign,
               position_days.*
          FROM position_days) AS own
 GROUP BY day, token_id
 ORDER BY day, token_id;

-- token_ranks --
INSERT INTO token_ranks (token_id, wallet_count, token_name, is_renamed)
SELECT token_id,
       count(*),
       min(token_name),
       FALSE
  FROM positions
 GROUP BY token_id;

-- wallet_days --
INSERT INTO wallet_days (
       wallet_id, day, tokens, new_tokens,
{ledger.sums: $})
SELECT wallet_id,
       (created_at AT TIME ZONE 'UTC')::date AS day,
       1, 1,
{ledger.sums}
  FROM trades
 GROUP BY wallet_id, day;

-- intraday_sums --
UPDATE wallet_days
   SET intraday_best_token = intraday.best_token,
       intraday_best_trade = intraday.best_trade,
{ledger.intraday: $ = intraday.$}
  FROM (SELECT wallet_id,
               day,
               max(realized) AS best_token,
               max(best_trade) AS best_trade,
{ledger.intraday}
          FROM (SELECT 1 AS sign,
                       profit_bucket(realized, realized_cost) AS bucket,
                       position_days.*
                  FROM position_days
                 WHERE is_intraday
                   AND covered_txn > 0) AS position
         GROUP BY wallet_id, day) AS intraday
 WHERE wallet_days.wallet_id = intraday.wallet_id
   AND wallet_days.day = intraday.day;

-- wallet_hours --
INSERT INTO wallet_hours (
       wallet_id, starts_at,
{ledger.hours: $})
SELECT wallet_id,
       starts_at,
{ledger.hours: $}
  FROM (SELECT wallet_id,
               date_bin('1 hour', created_at, 'epoch') AS starts_at,
{ledger.sums}
          FROM trades
         WHERE created_at >= date_bin('1 hour', now() - interval '32 days', 'epoch')
         GROUP BY wallet_id, starts_at) AS hour;

-- lifetimes --
INSERT INTO lifetimes (
       wallet_id, blockchain, type, best_token, active_days, max_drawdown, last_day, earlier_peak, earlier_drawdown,
       tokens, still_holding, below_zero, above_zero_to_100, above_100_to_500, above_500, sold_below_zero, sold_above_zero_to_100,
       sold_above_100_to_500, sold_above_500, open_cost, open_cost_usd, open_without_usd, losses,
{ledger.sums: $},
{ledger.highest: $},
{ledger.lowest: $})
SELECT wallet_id, 'solana', 'kol', 0, 45, 0, '-infinity', 0, 0,
       1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0,
{ledger.sums},
{ledger.highest},
{ledger.lowest}
  FROM trades
 GROUP BY wallet_id;
