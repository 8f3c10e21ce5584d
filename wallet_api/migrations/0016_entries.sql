-- A new entry after an exit begins a new bag: the peak of a position is the largest quantity since it was last not held.

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
            NULL, NULL, NULL, NULL)::public.walk_state;
    END IF;

    -- What is sold beyond the quantity came in without a buy: neither profit nor loss, in dollars too.
    covered := least(amount, state.quantity);
    IF covered = 0 THEN
        RETURN ROW(
            state.quantity, state.cost, state.cost_usd, state.acquired_at, state.peak,
            COALESCE(token_name, state.token_name),
            NULL, NULL, NULL, NULL)::public.walk_state;
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
        END - covered_usd
    )::public.walk_state;
END
$$;

-- The trades of the positions that were entered again.
CREATE TEMP TABLE entered_again AS
SELECT trades.*
  FROM trades
  JOIN (SELECT DISTINCT wallet_id,
               token_id
          FROM (SELECT wallet_id,
                       token_id,
                       is_sell,
                       lag(peak_after > 0 AND NOT still_held(quantity_after, peak_after)) OVER (
                           PARTITION BY wallet_id, token_id
                               ORDER BY created_at, is_sell, tx_signature, event_index) AS was_left
                  FROM trades) AS trade
         WHERE was_left
           AND NOT is_sell) AS position
    ON position.wallet_id = trades.wallet_id
   AND position.token_id = trades.token_id;

CREATE TEMP TABLE entries AS
SELECT wallet_id,
       token_id,
       tx_signature,
       is_sell,
       event_index,
       lead(1) OVER trade_order IS NULL AS is_last,
       (walk(ROW(0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL)::walk_state, is_sell, token_amount, value, value_usd,
             extract(epoch FROM created_at), token_name) OVER trade_order).peak AS peak
  FROM entered_again
WINDOW trade_order AS (PARTITION BY wallet_id, token_id
                           ORDER BY created_at, is_sell, tx_signature, event_index
                            ROWS UNBOUNDED PRECEDING);

UPDATE trades
   SET peak_after = entry.peak
  FROM (SELECT *
          FROM entries) AS entry
 WHERE trades.wallet_id = entry.wallet_id
   AND trades.token_id = entry.token_id
   AND trades.tx_signature = entry.tx_signature
   AND trades.is_sell = entry.is_sell
   AND trades.event_index = entry.event_index
   AND trades.peak_after <> entry.peak;

UPDATE positions
   SET peak = entry.peak
  FROM (SELECT *
          FROM entries
         WHERE is_last) AS entry
 WHERE positions.wallet_id = entry.wallet_id
   AND positions.token_id = entry.token_id
   AND positions.peak <> entry.peak;

DROP TABLE entered_again;
DROP TABLE entries;

UPDATE lifetimes
   SET still_holding = counted.still_holding,
       below_zero = counted.below_zero,
       above_zero_to_100 = counted.above_zero_to_100,
       above_100_to_500 = counted.above_100_to_500,
       above_500 = counted.above_500
  FROM (SELECT wallet_id,
               count(*) FILTER (WHERE is_held) AS still_holding,
               count(*) FILTER (WHERE bucket = 0 AND NOT is_held) AS below_zero,
               count(*) FILTER (WHERE bucket = 1 AND NOT is_held) AS above_zero_to_100,
               count(*) FILTER (WHERE bucket = 2 AND NOT is_held) AS above_100_to_500,
               count(*) FILTER (WHERE bucket = 3 AND NOT is_held) AS above_500
          FROM (SELECT wallet_id,
                       still_held(quantity, peak) AS is_held,
                       CASE WHEN covered_txn > 0 THEN profit_bucket(realized, realized_cost) END AS bucket
                  FROM positions) AS position
         GROUP BY wallet_id) AS counted
 WHERE lifetimes.wallet_id = counted.wallet_id
   AND (lifetimes.still_holding, lifetimes.below_zero, lifetimes.above_zero_to_100, lifetimes.above_100_to_500,
        lifetimes.above_500)
       <> (counted.still_holding, counted.below_zero, counted.above_zero_to_100, counted.above_100_to_500,
           counted.above_500);
