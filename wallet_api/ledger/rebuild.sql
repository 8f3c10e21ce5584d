-- The rebuild of what is derived from trades: derived rows are deleted, computed again, and compared.

-- staging --
-- The rows as they were. Empty again at each commit.
CREATE TEMP TABLE IF NOT EXISTS earlier (
    name text NOT NULL,
    content jsonb NOT NULL
) ON COMMIT DELETE ROWS;

-- What token_days should be on a day.
CREATE TEMP TABLE IF NOT EXISTS wanted_token_days (LIKE token_days INCLUDING INDEXES) ON COMMIT DELETE ROWS;

-- keep --
-- Needs positions_pkey, lifetimes_pkey, position_days_pkey, wallet_days_pkey, wallet_hours_pkey.
  WITH old_positions AS (
       DELETE FROM positions
        WHERE wallet_id = %(wallet_id)s
       RETURNING positions.*
       ),
       old_lifetimes AS (
       DELETE FROM lifetimes
        WHERE wallet_id = %(wallet_id)s
       RETURNING lifetimes.*
       ),
       old_position_days AS (
       DELETE FROM position_days
        WHERE wallet_id = %(wallet_id)s
       RETURNING position_days.*
       ),
       old_wallet_days AS (
       DELETE FROM wallet_days
        WHERE wallet_id = %(wallet_id)s
       RETURNING wallet_days.*
       ),
       old_wallet_hours AS (
       DELETE FROM wallet_hours
        WHERE wallet_id = %(wallet_id)s
       RETURNING wallet_hours.*
       )
INSERT INTO earlier
SELECT 'positions', to_jsonb(old_positions) FROM old_positions
 UNION ALL
SELECT 'lifetimes', to_jsonb(old_lifetimes) FROM old_lifetimes
 UNION ALL
SELECT 'position_days', to_jsonb(old_position_days) FROM old_position_days
 UNION ALL
SELECT 'wallet_days', to_jsonb(old_wallet_days) FROM old_wallet_days
 UNION ALL
SELECT 'wallet_hours', to_jsonb(old_wallet_hours) FROM old_wallet_hours;

-- affected --
-- Needs trades_pkey.
INSERT INTO affected
SELECT DISTINCT wallet_id,
       token_id,
       TRUE AS is_late
  FROM trades
 WHERE wallet_id = %(wallet_id)s;

-- changed --
-- How many rows of each table differ, of those that are still stored. Needs positions_pkey, lifetimes_pkey,
-- position_days_pkey, wallet_days_pkey, wallet_hours_pkey.
  WITH current AS MATERIALIZED (
       SELECT 'positions' AS name, to_jsonb(positions) AS content FROM positions WHERE wallet_id = %(wallet_id)s
        UNION ALL
       SELECT 'lifetimes' AS name, to_jsonb(lifetimes) AS content FROM lifetimes WHERE wallet_id = %(wallet_id)s
        UNION ALL
       SELECT 'position_days' AS name, to_jsonb(position_days) AS content FROM position_days WHERE wallet_id = %(wallet_id)s
        UNION ALL
       SELECT 'wallet_days' AS name, to_jsonb(wallet_days) AS content FROM wallet_days WHERE wallet_id = %(wallet_id)s
        UNION ALL
       SELECT 'wallet_hours' AS name, to_jsonb(wallet_hours) AS content FROM wallet_hours WHERE wallet_id = %(wallet_id)s
       )
SELECT name,
       count(DISTINCT (content -> 'token_id', content -> 'day', content -> 'starts_at')) AS rows
  FROM ((SELECT * FROM earlier
         EXCEPT
         SELECT * FROM current)
        UNION ALL
        (SELECT * FROM current
         EXCEPT
         SELECT * FROM earlier)) AS difference
 WHERE name <> 'wallet_hours'
    OR (content ->> 'starts_at')::timestamptz >= %(first_hour)s
 GROUP BY name;

-- keep_volume --
  WITH old AS (
       DELETE FROM volume_rollup
       RETURNING volume_rollup.*
       )
INSERT INTO earlier
SELECT 'volume_rollup', to_jsonb(old)
  FROM old;

-- changed_volume --
-- How many rows differ, of those wholly inside the horizon.
  WITH current AS MATERIALIZED (
       SELECT 'volume_rollup' AS name,
              to_jsonb(volume_rollup) AS content
         FROM volume_rollup
       )
SELECT count(DISTINCT (content -> 'blockchain', content -> 'type', content -> 'token_id', content -> 'bucket_seconds',
                       content -> 'ends_at')) AS changed
  FROM ((SELECT * FROM earlier
         EXCEPT
         SELECT * FROM current)
        UNION ALL
        (SELECT * FROM current
         EXCEPT
         SELECT * FROM earlier)) AS difference
 WHERE (content ->> 'ends_at')::timestamptz > %(since)s::timestamptz + interval '1 hour';

-- days --
-- The days of which some wallet has trades, and those of token_days. All rows of both are read.
SELECT day
  FROM wallet_days
 UNION
SELECT day
  FROM token_days
 ORDER BY day;

-- wanted_token_days --
-- Needs position_days_pkey, wallets_pkey.
INSERT INTO wanted_token_days (
       day, token_id, type,
{token_days: $})
SELECT day,
       token_id,
       type,
{token_days}
  FROM (SELECT 1 AS sign,
               position_days.*
          FROM position_days
         -- An array, so that the day of each wallet is found by the key.
         WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                        FROM wallets))
           AND day = %(day)s) AS own
  JOIN wallets
 USING (wallet_id)
 GROUP BY day, token_id, type;

-- needless_token_days --
-- Needs token_days_pkey.
DELETE FROM token_days
 WHERE day = %(day)s
   AND NOT EXISTS (
       SELECT
         FROM wanted_token_days AS wanted
        WHERE wanted.token_id = token_days.token_id
          AND wanted.type = token_days.type);

-- wrong_token_days --
-- Needs token_days_pkey.
INSERT INTO token_days AS stored
SELECT *
  FROM wanted_token_days
    ON CONFLICT (day, token_id, type) DO UPDATE
   SET
{token_days: $ = excluded.$}
 WHERE stored IS DISTINCT FROM excluded;
