-- Keys with credits for each month, and use by the names that callers know.

-- monthly is the balance that a key begins each month of UTC with; NULL is none. credits are those of credits_month, its first
-- day: after that month, and until something is charged, the balance is monthly.
ALTER TABLE api_keys
  ADD COLUMN monthly bigint CHECK (monthly >= 0),
  ADD COLUMN credits_month date,
  ADD CHECK (monthly IS NULL OR credits IS NOT NULL AND credits_month IS NOT NULL);

-- The first day of the present month of UTC.
CREATE FUNCTION this_month() RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE
RETURN date_trunc('month', now() AT TIME ZONE 'UTC')::date;

-- The credits that a key has now; NULL is unlimited.
CREATE FUNCTION balance(credits bigint, monthly bigint, credits_month date) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN monthly IS NULL OR credits_month >= this_month() THEN credits ELSE monthly END;

-- The operationIds of the OpenAPI document, where operations were named after functions.
UPDATE key_use
   SET operation = new_name
  FROM (VALUES ('analytics', 'get_analytics'),
               ('pnl_calendar', 'get_calendar'),
               ('connections', 'list_connections'),
               ('count', 'count_trades'),
               ('latest', 'list_latest_trades'),
               ('timerange', 'list_trades_in_window'),
               ('history', 'get_history'),
               ('holdings', 'get_holdings'),
               ('key_state', 'get_key'),
               ('leaderboard', 'get_leaderboard'),
               ('lookup', 'look_up_wallets'),
               ('prices', 'get_prices'),
               ('signals', 'list_signals'),
               ('meta', 'get_meta'),
               ('health', 'get_health'),
               ('transactions', 'list_token_trades'),
               ('stats', 'get_token_stats'),
               ('holders', 'list_holders'),
               ('tracker', 'get_tracker'),
               ('volume', 'get_volume'),
               ('wallets', 'list_wallets')) AS names (old_name, new_name)
 WHERE operation = old_name;
