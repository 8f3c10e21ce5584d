-- The same sums over trades under the same names in positions, lifetimes, days of positions and days of wallets; and, of a sell,
-- the tokens that came in without a buy, which the walk computes.

-- tokens_without_cost is NULL in a trade without such tokens.
ALTER TABLE trades ADD COLUMN tokens_without_cost numeric;

ALTER TYPE walk_state ADD ATTRIBUTE tokens_without_cost numeric;

-- One step of the moving weighted-average cost method; `at` is the trade's time in Unix seconds. Few
-- statements, since each costs as much as several of the sums in it.
CREATE OR REPLACE FUNCTION walk_step(
    state walk_state, start walk_state, is_sell boolean,
    amount numeric, value numeric, value_usd numeric, at numeric, token_name text
) RETURNS walk_state
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS
$$
DECLARE
    covered numeric;
    rest numeric;
    covered_cost numeric;
    covered_usd numeric;
BEGIN
    IF state.quantity IS NULL THEN
        state := start;
    END IF;
    IF NOT is_sell THEN
        RETURN ROW(
            state.quantity + amount,
            state.cost + value,
            state.cost_usd + value_usd,
            CASE WHEN state.quantity = 0 THEN at
                 ELSE public.quotient(state.acquired_at * state.quantity + at * amount, state.quantity + amount)
            END,
            CASE WHEN public.still_held(state.quantity, state.peak) THEN greatest(state.peak, state.quantity + amount)
                 ELSE state.quantity + amount
            END,
            COALESCE(token_name, state.token_name),
            NULL, NULL, NULL, NULL, NULL)::public.walk_state;
    END IF;

    -- What is sold beyond the quantity came in without a buy: neither profit nor loss, in dollars too.
    covered := least(amount, state.quantity);
    IF covered = 0 THEN
        RETURN ROW(
            state.quantity, state.cost, state.cost_usd, state.acquired_at, state.peak,
            COALESCE(token_name, state.token_name),
            NULL, NULL, NULL, NULL, amount)::public.walk_state;
    END IF;
    rest := state.quantity - covered;
    IF rest = 0 THEN
        covered_cost := state.cost;
        covered_usd := state.cost_usd;
        state.cost := 0;
        state.cost_usd := 0;
    ELSE
        covered_cost := public.quotient(state.cost * covered, state.quantity);
        covered_usd := public.quotient(state.cost_usd * covered, state.quantity);
        IF covered_cost < 0.0001 THEN
            covered_cost := public.small_quotient(state.cost * covered, state.quantity);
        END IF;
        -- The difference of two numbers that are nearly equal would have few digits left.
        IF rest * 10000 < state.quantity THEN
            state.cost := public.small_quotient(state.cost * rest, state.quantity);
        ELSE
            state.cost := state.cost - covered_cost;
        END IF;
        state.cost_usd := state.cost_usd - covered_usd;
    END IF;
    RETURN ROW(
        rest, state.cost, state.cost_usd, state.acquired_at, state.peak,
        COALESCE(token_name, state.token_name),
        CASE WHEN covered = amount THEN value
             ELSE public.small_quotient(value * covered, amount)
        END - covered_cost,
        covered_cost,
        at - state.acquired_at,
        CASE WHEN covered = amount THEN value_usd
             ELSE public.quotient(value_usd * covered, amount)
        END - covered_usd,
        NULLIF(amount - covered, 0)
    )::public.walk_state;
END
$$;

-- A sell covers what the quantity fell by.
UPDATE trades
   SET tokens_without_cost = walked.without_cost
  FROM (SELECT wallet_id,
               token_id,
               tx_signature,
               is_sell,
               event_index,
               token_amount + quantity_after
                   - lag(quantity_after, 1, 0::numeric) OVER (
                         PARTITION BY wallet_id, token_id
                             ORDER BY created_at, is_sell, tx_signature, event_index) AS without_cost
          FROM trades) AS walked
 WHERE walked.is_sell
   AND walked.without_cost > 0
   AND trades.wallet_id = walked.wallet_id
   AND trades.token_id = walked.token_id
   AND trades.tx_signature = walked.tx_signature
   AND trades.is_sell = walked.is_sell
   AND trades.event_index = walked.event_index;

-- Filled tables are written anew, in the order of their keys, as an import writes them: a row that is updated moves.
CREATE TEMP TABLE filled_positions AS
SELECT positions.*,
       summed.tokens_without_cost,
       summed.hold_seconds,
       summed.hold_cost
  FROM positions
  JOIN (SELECT wallet_id,
               token_id,
               COALESCE(sum(tokens_without_cost), 0) AS tokens_without_cost,
               COALESCE(sum(hold_seconds), 0) AS hold_seconds,
               COALESCE(sum(round(hold_seconds * realized_cost, greatest(40, scale(realized_cost)))), 0) AS hold_cost
          FROM trades
         GROUP BY wallet_id, token_id) AS summed
    ON summed.wallet_id = positions.wallet_id
   AND summed.token_id = positions.token_id;

TRUNCATE positions;

ALTER TABLE positions
  ADD COLUMN tokens_without_cost numeric NOT NULL,
  ADD COLUMN hold_seconds numeric NOT NULL,
  ADD COLUMN hold_cost numeric NOT NULL;

INSERT INTO positions
SELECT *
  FROM filled_positions
 ORDER BY wallet_id, token_id;

DROP TABLE filled_positions;

CREATE TEMP TABLE filled_days AS
SELECT position_days.*,
       summed.tokens_without_cost,
       summed.first_buy
  FROM position_days
  JOIN (SELECT wallet_id,
               (created_at AT TIME ZONE 'UTC')::date AS day,
               token_id,
               COALESCE(sum(tokens_without_cost), 0) AS tokens_without_cost,
               min(created_at) FILTER (WHERE NOT is_sell) AS first_buy
          FROM trades
         GROUP BY wallet_id, day, token_id) AS summed
    ON summed.wallet_id = position_days.wallet_id
   AND summed.day = position_days.day
   AND summed.token_id = position_days.token_id;

TRUNCATE position_days;

ALTER TABLE position_days
  ADD COLUMN tokens_without_cost numeric NOT NULL,
  ADD COLUMN first_buy timestamptz;

INSERT INTO position_days
SELECT *
  FROM filled_days
 ORDER BY wallet_id, day, token_id;

DROP TABLE filled_days;

CREATE TEMP TABLE filled_days AS
SELECT wallet_days.*,
       summed.bought_tokens,
       summed.sold_tokens,
       summed.tokens_without_cost
  FROM wallet_days
  JOIN (SELECT wallet_id,
               (created_at AT TIME ZONE 'UTC')::date AS day,
               COALESCE(sum(token_amount) FILTER (WHERE NOT is_sell), 0) AS bought_tokens,
               COALESCE(sum(token_amount) FILTER (WHERE is_sell), 0) AS sold_tokens,
               COALESCE(sum(tokens_without_cost), 0) AS tokens_without_cost
          FROM trades
         GROUP BY wallet_id, day) AS summed
    ON summed.wallet_id = wallet_days.wallet_id
   AND summed.day = wallet_days.day;

TRUNCATE wallet_days;

ALTER TABLE wallet_days
  ADD COLUMN bought_tokens numeric NOT NULL,
  ADD COLUMN sold_tokens numeric NOT NULL,
  ADD COLUMN tokens_without_cost numeric NOT NULL;

INSERT INTO wallet_days
SELECT *
  FROM filled_days
 ORDER BY wallet_id, day;

DROP TABLE filled_days;

ALTER TABLE wallet_days RENAME COLUMN bought TO invested;
ALTER TABLE wallet_days RENAME COLUMN bought_usd TO invested_usd;
ALTER TABLE wallet_days RENAME COLUMN bought_without_usd TO invested_without_usd;

CREATE TEMP TABLE filled_lifetimes AS
SELECT lifetimes.*,
       summed.covered_txn,
       summed.buys_without_usd,
       summed.sells_without_usd,
       summed.covered_without_usd,
       summed.invested_usd,
       summed.sold_usd,
       summed.invested_without_usd,
       summed.sold_without_usd,
       summed.bought_tokens,
       summed.sold_tokens,
       summed.tokens_without_cost,
       summed.realized_usd,
       summed.hold_seconds,
       summed.hold_cost,
       summed.first_buy,
       summed.first_seen
  FROM lifetimes
  JOIN (SELECT wallet_id,
               sum(covered_txn) AS covered_txn,
               sum(buys_without_usd) AS buys_without_usd,
               sum(sells_without_usd) AS sells_without_usd,
               sum(covered_without_usd) AS covered_without_usd,
               sum(invested_usd) AS invested_usd,
               sum(sold_usd) AS sold_usd,
               sum(invested_without_usd) AS invested_without_usd,
               sum(sold_without_usd) AS sold_without_usd,
               sum(bought_tokens) AS bought_tokens,
               sum(sold_tokens) AS sold_tokens,
               sum(tokens_without_cost) AS tokens_without_cost,
               sum(realized_usd) AS realized_usd,
               sum(hold_seconds) AS hold_seconds,
               sum(hold_cost) AS hold_cost,
               min(first_buy) AS first_buy,
               min(first_seen) AS first_seen
          FROM positions
         GROUP BY wallet_id) AS summed
    ON summed.wallet_id = lifetimes.wallet_id;

TRUNCATE lifetimes;

ALTER TABLE lifetimes
  ADD COLUMN covered_txn bigint NOT NULL,
  ADD COLUMN buys_without_usd bigint NOT NULL,
  ADD COLUMN sells_without_usd bigint NOT NULL,
  ADD COLUMN covered_without_usd bigint NOT NULL,
  ADD COLUMN invested_usd numeric NOT NULL,
  ADD COLUMN sold_usd numeric NOT NULL,
  ADD COLUMN invested_without_usd numeric NOT NULL,
  ADD COLUMN sold_without_usd numeric NOT NULL,
  ADD COLUMN bought_tokens numeric NOT NULL,
  ADD COLUMN sold_tokens numeric NOT NULL,
  ADD COLUMN tokens_without_cost numeric NOT NULL,
  ADD COLUMN realized_usd numeric NOT NULL,
  ADD COLUMN hold_seconds numeric NOT NULL,
  ADD COLUMN hold_cost numeric NOT NULL,
  ADD COLUMN first_buy timestamptz,
  ADD COLUMN first_seen timestamptz NOT NULL;

INSERT INTO lifetimes
SELECT *
  FROM filled_lifetimes
 ORDER BY wallet_id;

DROP TABLE filled_lifetimes;

ALTER TABLE volume_rollup RENAME COLUMN unpriced_txn TO txn_without_usd;
ALTER TABLE volume_rollup RENAME COLUMN unpriced_volume TO volume_without_usd;
