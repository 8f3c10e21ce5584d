-- Days of positions are days of UTC from 00:00 until before 24:00, as those of wallets are. They are computed again from
-- the trades of the last 32 days.

-- Sums over the trades of one position in one day, for the days that the longest leaderboard period can still reach.
-- unpriced_sell_txn counts covered sells whose dollar profit is unknown.
CREATE TABLE position_days (
    wallet_id bigint NOT NULL,
    day date NOT NULL,
    token_id bigint NOT NULL,
    buy_txn bigint NOT NULL,
    sell_txn bigint NOT NULL,
    covered_txn bigint NOT NULL,
    unpriced_txn bigint NOT NULL,
    unpriced_sell_txn bigint NOT NULL,
    volume numeric NOT NULL,
    volume_usd numeric NOT NULL,
    unpriced_volume numeric NOT NULL,
    realized numeric NOT NULL,
    realized_cost numeric NOT NULL,
    realized_usd numeric NOT NULL,
    hold_seconds numeric NOT NULL,
    hold_cost numeric NOT NULL,
    PRIMARY KEY (wallet_id, day, token_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

INSERT INTO position_days
SELECT wallet_id,
       (created_at AT TIME ZONE 'UTC')::date AS day,
       token_id,
       count(*) FILTER (WHERE NOT is_sell) AS buy_txn,
       count(*) FILTER (WHERE is_sell) AS sell_txn,
       count(realized_cost) AS covered_txn,
       count(*) FILTER (WHERE value_usd IS NULL) AS unpriced_txn,
       count(realized_cost) - count(realized_usd) AS unpriced_sell_txn,
       sum(value) AS volume,
       COALESCE(sum(value_usd), 0) AS volume_usd,
       COALESCE(sum(value) FILTER (WHERE value_usd IS NULL), 0) AS unpriced_volume,
       COALESCE(sum(realized), 0) AS realized,
       COALESCE(sum(realized_cost), 0) AS realized_cost,
       COALESCE(sum(realized_usd), 0) AS realized_usd,
       COALESCE(sum(hold_seconds), 0) AS hold_seconds,
       COALESCE(sum(round(hold_seconds * realized_cost, greatest(40, scale(realized_cost)))), 0) AS hold_cost
  FROM trades
 WHERE created_at >= (now() AT TIME ZONE 'UTC')::date - 32
 GROUP BY wallet_id, day, token_id;

DROP TABLE position_rollup;
