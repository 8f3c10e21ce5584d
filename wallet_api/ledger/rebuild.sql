-- The rebuild of what is derived from trades: derived rows are moved into temporary tables, computed again, and compared.

-- staging --
-- Empty again at each commit.
CREATE TEMP TABLE IF NOT EXISTS earlier_positions (LIKE positions) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS earlier_lifetimes (LIKE lifetimes) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS earlier_position_days (LIKE position_days) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS earlier_wallet_days (LIKE wallet_days) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS earlier_volume (LIKE volume_rollup) ON COMMIT DELETE ROWS;

-- keep_positions --
-- Needs positions_pkey.
  WITH earlier AS (
       DELETE FROM positions
        WHERE wallet_id = %(wallet_id)s
       RETURNING *
       )
INSERT INTO earlier_positions
SELECT *
  FROM earlier;

-- keep_lifetimes --
-- Needs lifetimes_pkey.
  WITH earlier AS (
       DELETE FROM lifetimes
        WHERE wallet_id = %(wallet_id)s
       RETURNING *
       )
INSERT INTO earlier_lifetimes
SELECT *
  FROM earlier;

-- keep_position_days --
-- Needs position_days_pkey.
  WITH earlier AS (
       DELETE FROM position_days
        WHERE wallet_id = %(wallet_id)s
       RETURNING *
       )
INSERT INTO earlier_position_days
SELECT *
  FROM earlier;

-- keep_wallet_days --
-- Needs wallet_days_pkey.
  WITH earlier AS (
       DELETE FROM wallet_days
        WHERE wallet_id = %(wallet_id)s
       RETURNING *
       )
INSERT INTO earlier_wallet_days
SELECT *
  FROM earlier;

-- affected --
-- Needs trades_pkey.
INSERT INTO affected
SELECT DISTINCT wallet_id,
       token_id,
       TRUE AS is_late
  FROM trades
 WHERE wallet_id = %(wallet_id)s;

-- changed_positions --
-- Needs positions_pkey.
SELECT count(DISTINCT token_id) AS changed
  FROM ((SELECT * FROM earlier_positions
         EXCEPT
         SELECT * FROM positions WHERE wallet_id = %(wallet_id)s)
        UNION ALL
        (SELECT * FROM positions WHERE wallet_id = %(wallet_id)s
         EXCEPT
         SELECT * FROM earlier_positions)) AS difference;

-- changed_lifetimes --
-- Needs lifetimes_pkey.
SELECT count(DISTINCT wallet_id) AS changed
  FROM ((SELECT * FROM earlier_lifetimes
         EXCEPT
         SELECT * FROM lifetimes WHERE wallet_id = %(wallet_id)s)
        UNION ALL
        (SELECT * FROM lifetimes WHERE wallet_id = %(wallet_id)s
         EXCEPT
         SELECT * FROM earlier_lifetimes)) AS difference;

-- changed_position_days --
-- Those that are still stored. Needs position_days_pkey.
SELECT count(DISTINCT (day, token_id)) AS changed
  FROM ((SELECT * FROM earlier_position_days
         EXCEPT
         SELECT * FROM position_days WHERE wallet_id = %(wallet_id)s)
        UNION ALL
        (SELECT * FROM position_days WHERE wallet_id = %(wallet_id)s
         EXCEPT
         SELECT * FROM earlier_position_days)) AS difference
 WHERE day >= %(first_day)s;

-- changed_wallet_days --
-- Needs wallet_days_pkey.
SELECT count(DISTINCT day) AS changed
  FROM ((SELECT * FROM earlier_wallet_days
         EXCEPT
         SELECT * FROM wallet_days WHERE wallet_id = %(wallet_id)s)
        UNION ALL
        (SELECT * FROM wallet_days WHERE wallet_id = %(wallet_id)s
         EXCEPT
         SELECT * FROM earlier_wallet_days)) AS difference;

-- keep_volume --
  WITH earlier AS (
       DELETE FROM volume_rollup
       RETURNING *
       )
INSERT INTO earlier_volume
SELECT *
  FROM earlier;

-- changed_volume --
-- Those wholly inside the horizon.
SELECT count(DISTINCT (blockchain, type, token_id, bucket_seconds, ends_at)) AS changed
  FROM ((SELECT * FROM earlier_volume
         EXCEPT
         SELECT * FROM volume_rollup)
        UNION ALL
        (SELECT * FROM volume_rollup
         EXCEPT
         SELECT * FROM earlier_volume)) AS difference
 WHERE ends_at > %(since)s::timestamptz + interval '1 hour'
