-- What the derived tables held before a rebuild, empty again at each commit.
CREATE TEMP TABLE IF NOT EXISTS kept_positions (LIKE positions) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS kept_lifetimes (LIKE lifetimes) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS kept_days (LIKE position_rollup) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS kept_wallet_days (LIKE wallet_days) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS kept_volume (LIKE volume_rollup) ON COMMIT DELETE ROWS
