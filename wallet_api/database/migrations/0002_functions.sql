-- The arithmetic of the ledger, the balances of keys, and the walk over a position's trades.
-- A dump is restored with an empty search_path: bodies are SQL-standard, or qualify every name.
-- A function that is declared less volatile than what it calls is not inlined.

-- A quotient with `places` decimals.
CREATE FUNCTION quotient_to(dividend numeric, divisor numeric, places integer) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN round((dividend + round(0::numeric, places)) / divisor, places);

-- A quotient with 40 decimals, so that a rounded figure equals the exact fraction, rounded.
CREATE FUNCTION quotient(dividend numeric, divisor numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN round((dividend + 0e-40) / divisor, 40);

-- A quotient that may be very small, with 60 decimals more than its leading zeros: a percentage of such a
-- cost has its digits there.
CREATE FUNCTION small_quotient(dividend numeric, divisor numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN dividend = 0 THEN 0
            ELSE quotient_to(dividend, divisor, 60 + length(div(divisor, dividend)::text))
       END;

-- Round half away from zero. Rounding to 30 decimals first removes the last digits of quotients, so that a
-- sum that is exactly a half rounds as a half.
CREATE FUNCTION round_half_up(figure numeric, places integer) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN trim_scale(round(round(figure, 30), places));

-- 100 * part / whole with 4 decimals; 0 when the whole is 0.
CREATE FUNCTION percentage(part numeric, whole numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN whole = 0 THEN 0 ELSE round_half_up(quotient(100 * part, whole), 4) END;

-- The dollars of txn trades: usd is the sum of those with a stored value, native the value of the others in native
-- currency, which count with its latest price. NULL when no trade has a value, nor the currency a price.
CREATE FUNCTION dollars(usd numeric, native numeric, txn numeric, txn_without_usd numeric, price numeric)
RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN price IS NOT NULL THEN usd + native * price
            WHEN txn = 0 OR txn_without_usd < txn THEN usd
       END;

-- A time as responses have it: UTC, ISO 8601 with Z, whole seconds.
CREATE FUNCTION iso_time(moment timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');

-- The bucket of a profit on its cost: 0 no profit, 1 up to 100 %, 2 up to 500 %, 3 above, and any profit on
-- no cost. The last digits of quotients do not count.
CREATE FUNCTION profit_bucket(realized numeric, realized_cost numeric) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN realized <= realized_cost * 1e-30 THEN 0
            WHEN realized <= realized_cost * (1 + 1e-30) THEN 1
            WHEN realized <= realized_cost * (5 + 1e-30) THEN 2
            ELSE 3
       END;

-- Whether what is left of a position is more than dust.
CREATE FUNCTION still_held(quantity numeric, peak numeric) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN quantity > 0 AND quantity * 100 >= peak;

CREATE FUNCTION refuse_chain(chain text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS
$$
BEGIN
    RAISE EXCEPTION 'unknown chain: %', chain;
END
$$;

-- The native currency of a chain. Raises for a chain that is not known here.
CREATE FUNCTION native_currency(chain text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE chain WHEN 'solana' THEN 'SOL'
                  WHEN 'bnb' THEN 'BNB'
                  WHEN 'base' THEN 'ETH'
                  WHEN 'eth' THEN 'ETH'
                  ELSE refuse_chain(chain)
       END;

-- The end of the bucket (end - size, end] that holds a moment.
CREATE FUNCTION bucket_end(moment timestamptz, bucket_seconds integer) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN date_bin(bucket_seconds * interval '1 second', moment - interval '1 microsecond', to_timestamp(0))
       + bucket_seconds * interval '1 second';

-- The first day of the present month of UTC.
CREATE FUNCTION this_month() RETURNS date
LANGUAGE sql STABLE PARALLEL SAFE
RETURN date_trunc('month', now() AT TIME ZONE 'UTC')::date;

-- The credits that a key has now; NULL is unlimited.
CREATE FUNCTION balance(credits bigint, monthly bigint, credits_month date) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN monthly IS NULL OR credits_month >= this_month() THEN credits ELSE monthly END;

-- A position between two trades, and what the last of them realized.
CREATE TYPE walk_state AS (
    quantity numeric,
    cost numeric,
    cost_usd numeric,
    acquired_at numeric,
    peak numeric,
    token_name text,
    realized numeric,
    realized_cost numeric,
    hold_seconds numeric,
    realized_usd numeric,
    tokens_without_cost numeric
);

-- One step of the moving weighted-average cost method; `at` is the trade's time in Unix seconds. Few
-- statements, since each costs as much as several of the sums in it.
CREATE FUNCTION walk_step(
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

-- The walk over a position's trades, as a window function in the order of the trades.
CREATE AGGREGATE walk(walk_state, boolean, numeric, numeric, numeric, numeric, text) (
    sfunc = walk_step,
    stype = walk_state
);
