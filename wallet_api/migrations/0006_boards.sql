-- What boards and trackers are added up from: days of positions with all sums, for 92 days, and for boards of all trades the
-- buckets of what was sold. All of it is computed again.

-- The four new buckets count the positions with a covered sell, held or not.
ALTER TABLE lifetimes
  ADD COLUMN sold_below_zero bigint NOT NULL DEFAULT 0,
  ADD COLUMN sold_above_zero_to_100 bigint NOT NULL DEFAULT 0,
  ADD COLUMN sold_above_100_to_500 bigint NOT NULL DEFAULT 0,
  ADD COLUMN sold_above_500 bigint NOT NULL DEFAULT 0;

ALTER TABLE lifetimes
ALTER COLUMN sold_below_zero DROP DEFAULT,
ALTER COLUMN sold_above_zero_to_100 DROP DEFAULT,
ALTER COLUMN sold_above_100_to_500 DROP DEFAULT,
ALTER COLUMN sold_above_500 DROP DEFAULT;

UPDATE lifetimes
   SET sold_below_zero = summed.below_zero,
       sold_above_zero_to_100 = summed.above_zero_to_100,
       sold_above_100_to_500 = summed.above_100_to_500,
       sold_above_500 = summed.above_500
  FROM (SELECT wallet_id,
               count(*) FILTER (WHERE bucket = 0) AS below_zero,
               count(*) FILTER (WHERE bucket = 1) AS above_zero_to_100,
               count(*) FILTER (WHERE bucket = 2) AS above_100_to_500,
               count(*) FILTER (WHERE bucket = 3) AS above_500
          FROM (SELECT positions.*,
                       CASE WHEN covered_txn > 0 THEN profit_bucket(realized, realized_cost) END AS bucket
                  FROM positions) AS position
         GROUP BY wallet_id) AS summed
 WHERE lifetimes.wallet_id = summed.wallet_id;

-- Sums over the trades of one position in one day of UTC, for the days that the longest leaderboard period but `all` can
-- still reach; as in wallet_days, and what the sells sold beyond the quantity. What boards read comes first: PostgreSQL reads
-- a row up to the last column that it needs.
DROP TABLE position_days;

CREATE TABLE position_days (
    wallet_id bigint NOT NULL,
    day date NOT NULL,
    token_id bigint NOT NULL,
    buy_txn bigint NOT NULL,
    sell_txn bigint NOT NULL,
    covered_txn bigint NOT NULL,
    buys_without_usd bigint NOT NULL,
    sells_without_usd bigint NOT NULL,
    covered_without_usd bigint NOT NULL,
    realized numeric NOT NULL,
    realized_cost numeric NOT NULL,
    best_trade numeric,
    invested numeric NOT NULL,
    sold numeric NOT NULL,
    bought_tokens numeric NOT NULL,
    sold_tokens numeric NOT NULL,
    tokens_without_cost numeric NOT NULL,
    invested_usd numeric NOT NULL,
    sold_usd numeric NOT NULL,
    invested_without_usd numeric NOT NULL,
    sold_without_usd numeric NOT NULL,
    realized_usd numeric NOT NULL,
    hold_seconds numeric NOT NULL,
    hold_cost numeric NOT NULL,
    largest_buy numeric,
    worst_trade numeric,
    first_seen timestamptz NOT NULL,
    last_seen timestamptz NOT NULL,
    PRIMARY KEY (wallet_id, day, token_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

INSERT INTO position_days
SELECT wallet_id,
       (created_at AT TIME ZONE 'UTC')::date AS day,
       token_id,
       count(*) FILTER (WHERE NOT is_sell) AS buy_txn,
       count(*) FILTER (WHERE is_sell) AS sell_txn,
       count(realized_cost) AS covered_txn,
       count(*) FILTER (WHERE NOT is_sell AND value_usd IS NULL) AS buys_without_usd,
       count(*) FILTER (WHERE is_sell AND value_usd IS NULL) AS sells_without_usd,
       count(realized_cost) - count(realized_usd) AS covered_without_usd,
       COALESCE(sum(realized), 0) AS realized,
       COALESCE(sum(realized_cost), 0) AS realized_cost,
       max(realized) AS best_trade,
       COALESCE(sum(value) FILTER (WHERE NOT is_sell), 0) AS invested,
       COALESCE(sum(value) FILTER (WHERE is_sell), 0) AS sold,
       COALESCE(sum(token_amount) FILTER (WHERE NOT is_sell), 0) AS bought_tokens,
       COALESCE(sum(token_amount) FILTER (WHERE is_sell), 0) AS sold_tokens,
       COALESCE(sum(token_amount - (quantity_before - quantity_after)) FILTER (WHERE is_sell), 0)
           AS tokens_without_cost,
       COALESCE(sum(value_usd) FILTER (WHERE NOT is_sell), 0) AS invested_usd,
       COALESCE(sum(value_usd) FILTER (WHERE is_sell), 0) AS sold_usd,
       COALESCE(sum(value) FILTER (WHERE NOT is_sell AND value_usd IS NULL), 0) AS invested_without_usd,
       COALESCE(sum(value) FILTER (WHERE is_sell AND value_usd IS NULL), 0) AS sold_without_usd,
       COALESCE(sum(realized_usd), 0) AS realized_usd,
       COALESCE(sum(hold_seconds), 0) AS hold_seconds,
       COALESCE(sum(round(hold_seconds * realized_cost, greatest(40, scale(realized_cost)))), 0) AS hold_cost,
       max(value) FILTER (WHERE NOT is_sell) AS largest_buy,
       min(realized) AS worst_trade,
       min(created_at) AS first_seen,
       max(created_at) AS last_seen
  FROM (SELECT trades.*,
               lag(quantity_after, 1, 0::numeric)
                   OVER (PARTITION BY wallet_id, token_id ORDER BY created_at, is_sell, tx_signature, event_index)
                   AS quantity_before
          FROM trades) AS trade
 WHERE created_at >= ((now() AT TIME ZONE 'UTC')::date - 92)::timestamp AT TIME ZONE 'UTC'
 GROUP BY wallet_id, day, token_id;
