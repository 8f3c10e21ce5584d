-- The ledger. Why each table is as it is: docs/ledger.md.

-- The arithmetic. A function declared less volatile than what it calls would not be inlined, and cost ten
-- times as much.

-- A quotient carried to 40 decimals, so that what is shown equals the exact fraction, rounded.
CREATE FUNCTION quotient(dividend numeric, divisor numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT round((dividend + 0e-40) / divisor, 40) $$;

CREATE FUNCTION quotient_to(dividend numeric, divisor numeric, places integer) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT round((dividend + round(0::numeric, places)) / divisor, places) $$;

-- A quotient that may be very small, carried to 60 decimals more than the zeros it begins with: a
-- percentage of such a cost has its figures there.
CREATE FUNCTION small_quotient(dividend numeric, divisor numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$
SELECT CASE WHEN dividend = 0 THEN 0
            ELSE quotient_to(dividend, divisor, 60 + length(div(divisor, dividend)::text))
       END
$$;

-- A figure as answered: half away from zero. Rounding to 30 decimals first undoes the last digits of
-- quotients, so that a sum that is exactly a half rounds as a half.
CREATE FUNCTION shown(figure numeric, places integer) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT trim_scale(round(round(figure, 30), places)) $$;

-- 100 * part / whole as answered; 0 when the whole is 0.
CREATE FUNCTION percentage(part numeric, whole numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE WHEN whole = 0 THEN 0 ELSE shown(quotient(100 * part, whole), 4) END $$;

-- Where a profit stands on its cost: 0 no profit, 1 up to 100 %, 2 up to 500 %, 3 above (and from no cost).
-- What is that little above a bound is the last digits of quotients.
CREATE FUNCTION profit_bucket(realized numeric, realized_cost numeric) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$
SELECT CASE WHEN realized <= realized_cost * 1e-30 THEN 0
            WHEN realized <= realized_cost * (1 + 1e-30) THEN 1
            WHEN realized <= realized_cost * (5 + 1e-30) THEN 2
            ELSE 3
       END
$$;

-- Whether what is left of a position is more than dust.
CREATE FUNCTION still_held(quantity numeric, peak numeric) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT quantity > 0 AND quantity * 100 >= peak $$;

-- A text as JSON. to_json, the only way before PostgreSQL 16, looks up at each call what a text is.
DO $$
BEGIN
    EXECUTE format('CREATE FUNCTION json_text(value text) RETURNS json LANGUAGE sql STABLE PARALLEL SAFE AS %L',
                   CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'SELECT to_json(value)'
                        ELSE 'SELECT JSON_SCALAR(value)'
                   END);
END
$$;

CREATE FUNCTION native_currency(chain text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT CASE chain WHEN 'solana' THEN 'SOL' WHEN 'bnb' THEN 'BNB' ELSE 'ETH' END $$;

-- A wallet as the list answers it. Of a whole row: to build the object from its parts takes twice as long.
CREATE FUNCTION listed_wallet(
    address text,
    name text,
    image_url text,
    twitter text,
    telegram text,
    copytrade_link text,
    blockchain text,
    type text,
    currency text
) RETURNS json
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$
SELECT row_to_json(listed)
  FROM (SELECT address AS wallet_address, name, image_url, twitter, telegram, copytrade_link,
               blockchain, type, currency) AS listed
$$;

-- A wallet's lifetime figures as the history answers them; without figures, of one that never traded. The
-- larger part is in brackets, so that it is worked out when that is planned.
CREATE FUNCTION listed_stats(
    currency text,
    invested numeric DEFAULT 0,
    sold numeric DEFAULT 0,
    realized numeric DEFAULT 0,
    realized_cost numeric DEFAULT 0,
    buy_txn bigint DEFAULT 0,
    sell_txn bigint DEFAULT 0,
    won bigint DEFAULT 0,
    closed bigint DEFAULT 0,
    tokens bigint DEFAULT 0,
    largest_buy numeric DEFAULT 0,
    best_trade numeric DEFAULT 0,
    worst_trade numeric DEFAULT 0,
    still_holding bigint DEFAULT 0
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$
SELECT '{"currency":"' || currency
    || ('","buy":' || shown(invested, 9)::text
     || ',"sell":' || shown(sold, 9)::text
     || ',"realized_pnl":' || shown(realized, 9)::text
     || ',"realized_pnl_percentage":' || percentage(realized, realized_cost)::text
     || ',"buy_txn":' || buy_txn::text
     || ',"sell_txn":' || sell_txn::text
     || ',"total_tx_count":' || (buy_txn + sell_txn)::text
     || ',"win_rate":' || percentage(won, closed)::text
     || ',"win_count":' || won::text
     || ',"total_sold":' || closed::text
     || ',"active_tokens_count":' || tokens::text
     || ',"largest_buy":' || shown(COALESCE(largest_buy, 0), 9)::text
     || ',"best_trade_pnl":' || shown(COALESCE(best_trade, 0), 9)::text
     || ',"worst_trade_pnl":' || shown(COALESCE(worst_trade, 0), 9)::text
     || ',"still_holding_count":' || still_holding::text
     || '}')
$$;

CREATE FUNCTION listed_distribution(
    below_zero bigint DEFAULT 0,
    above_zero_to_100 bigint DEFAULT 0,
    above_100_to_500 bigint DEFAULT 0,
    above_500 bigint DEFAULT 0
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$
SELECT '{"above_500":' || above_500::text
    || ',"above_100_to_500":' || above_100_to_500::text
    || ',"above_zero_to_100":' || above_zero_to_100::text
    || ',"below_zero":' || below_zero::text
    || '}'
$$;

-- Shared by all wallets, and small: reference tables where the ledger is sharded.

CREATE TABLE wallets (
    wallet_id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    blockchain text NOT NULL,
    type text NOT NULL,
    address text COLLATE "C" NOT NULL,
    name text NOT NULL,
    image_url text NOT NULL,
    twitter text NOT NULL,
    telegram text NOT NULL,
    copytrade_link text NOT NULL,
    -- Kept, since to make it takes longer than to read it: a list may be of thousands of wallets.
    listed json NOT NULL GENERATED ALWAYS AS (listed_wallet(
        address, name, image_url, twitter, telegram, copytrade_link, blockchain, type,
        native_currency(blockchain))) STORED,
    UNIQUE (blockchain, address)
);

CREATE INDEX wallets_by_group ON wallets (blockchain, type, address);

-- How many wallets a group has: kept, since counting a large group takes longer than to read a page of it.
CREATE TABLE wallet_groups (
    blockchain text NOT NULL,
    type text NOT NULL,
    wallet_count bigint NOT NULL,
    PRIMARY KEY (blockchain, type)
);

CREATE TABLE tokens (
    token_id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    blockchain text NOT NULL,
    mint text COLLATE "C" NOT NULL,
    UNIQUE (blockchain, mint)
);

CREATE TABLE native_prices (
    currency text NOT NULL,
    priced_at timestamptz NOT NULL,
    usd numeric NOT NULL,
    PRIMARY KEY (currency, priced_at)
);

-- The ledger itself: distributed by wallet_id where it is sharded.

-- realized, realized_cost and hold_seconds are NULL for buys and for sells of what was never bought.
-- realized_usd is NULL for buys, and for sells whose dollar profit is unknown.
CREATE TABLE trades (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    created_at timestamptz NOT NULL,
    event_index integer NOT NULL,
    is_sell boolean NOT NULL,
    usd_derived boolean NOT NULL,
    tx_signature text COLLATE "C" NOT NULL,
    token_name text,
    token_amount numeric NOT NULL,
    value numeric NOT NULL,
    value_usd numeric,
    realized numeric,
    realized_cost numeric,
    hold_seconds numeric,
    realized_usd numeric,
    PRIMARY KEY (wallet_id, token_id, tx_signature, is_sell, event_index)
);

CREATE INDEX trades_by_time ON trades (wallet_id, created_at);
CREATE INDEX trades_without_usd ON trades (created_at) WHERE value_usd IS NULL;

-- What the walk over a position's trades leaves: its state now, and its totals.
-- cost_usd is NULL while a buy since the position was last empty has no dollar value.
CREATE TABLE positions (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    mint text COLLATE "C" NOT NULL,
    quantity numeric NOT NULL,
    cost numeric NOT NULL,
    cost_usd numeric,
    acquired_at numeric NOT NULL,
    peak numeric NOT NULL,
    token_name text,
    buy_txn bigint NOT NULL,
    sell_txn bigint NOT NULL,
    covered_txn bigint NOT NULL,
    invested numeric NOT NULL,
    sold numeric NOT NULL,
    realized numeric NOT NULL,
    realized_cost numeric NOT NULL,
    largest_buy numeric,
    best_trade numeric,
    worst_trade numeric,
    first_seen timestamptz NOT NULL,
    last_seen timestamptz NOT NULL,
    still_holding boolean NOT NULL GENERATED ALWAYS AS (still_held(quantity, peak)) STORED,
    -- Of a closed position.
    bucket integer GENERATED ALWAYS AS (
        CASE WHEN covered_txn > 0 AND NOT still_held(quantity, peak) THEN profit_bucket(realized, realized_cost)
        END) STORED,
    -- Kept, since to make it takes longer than to read it: a history has one for each token.
    listed text NOT NULL,
    PRIMARY KEY (wallet_id, token_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- Sums over the positions of one wallet, how many of its closed ones are in each bucket, and these as the
-- history answers them.
CREATE TABLE lifetimes (
    wallet_id bigint PRIMARY KEY,
    currency text NOT NULL,
    tokens bigint NOT NULL,
    still_holding bigint NOT NULL,
    below_zero bigint NOT NULL,
    above_zero_to_100 bigint NOT NULL,
    above_100_to_500 bigint NOT NULL,
    above_500 bigint NOT NULL,
    buy_txn bigint NOT NULL,
    sell_txn bigint NOT NULL,
    invested numeric NOT NULL,
    sold numeric NOT NULL,
    realized numeric NOT NULL,
    realized_cost numeric NOT NULL,
    largest_buy numeric,
    best_trade numeric,
    worst_trade numeric,
    listed_stats text NOT NULL GENERATED ALWAYS AS (listed_stats(
        currency, invested, sold, realized, realized_cost, buy_txn, sell_txn,
        above_zero_to_100 + above_100_to_500 + above_500,
        below_zero + above_zero_to_100 + above_100_to_500 + above_500,
        tokens, largest_buy, best_trade, worst_trade, still_holding)) STORED,
    listed_distribution text NOT NULL GENERATED ALWAYS AS (listed_distribution(
        below_zero, above_zero_to_100, above_100_to_500, above_500)) STORED
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- Sums over the trades of one position in the day (ends_at - 1 day, ends_at], for the days that the longest
-- leaderboard period can still reach.
CREATE TABLE position_rollup (
    wallet_id bigint NOT NULL,
    ends_at timestamptz NOT NULL,
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
    PRIMARY KEY (wallet_id, ends_at, token_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- Sums over the trades of one group of wallets in (ends_at - bucket_seconds, ends_at], for buckets that a
-- volume window can still reach: hours, minutes and seconds of all tokens (token_id 0), hours and seconds of
-- each. The key begins with what is compared fastest and tells most apart.
CREATE TABLE volume_rollup (
    blockchain text NOT NULL,
    type text NOT NULL,
    token_id bigint NOT NULL,
    bucket_seconds integer NOT NULL,
    ends_at timestamptz NOT NULL,
    txn bigint NOT NULL,
    unpriced_txn bigint NOT NULL,
    volume numeric NOT NULL,
    volume_usd numeric NOT NULL,
    unpriced_volume numeric NOT NULL,
    PRIMARY KEY (token_id, bucket_seconds, blockchain, type, ends_at)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX volume_rollup_by_time ON volume_rollup (ends_at);

-- A time as answered: UTC, ISO 8601 with Z, whole seconds. JSON's form of it takes half as long as to_char.
CREATE FUNCTION shown_time(moment timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT substr(to_json(moment AT TIME ZONE INTERVAL '0')::text, 2, 19) || 'Z' $$;

-- A position as the history's token overview answers it. Put together by hand, which takes a third less time
-- than row_to_json.
CREATE FUNCTION listed_position(
    mint text,
    token_name text,
    invested numeric,
    sold numeric,
    realized numeric,
    realized_cost numeric,
    currency text,
    buy_txn bigint,
    sell_txn bigint,
    first_seen timestamptz,
    last_seen timestamptz,
    still_holding boolean
) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS
$$
SELECT concat('{"mint":', json_text(mint),
              ',"token_name":', json_text(COALESCE(token_name, '')),
              ',"invested":', shown(invested, 9),
              ',"sold":', shown(sold, 9),
              ',"realized_pnl":', shown(realized, 9),
              ',"realized_pnl_percentage":', percentage(realized, realized_cost),
              ',"currency":"', currency,
              '","buy_txn":', buy_txn,
              ',"sell_txn":', sell_txn,
              ',"first_seen":"', shown_time(first_seen),
              '","last_seen":"', shown_time(last_seen),
              '","still_holding":', still_holding::text,
              '}')
$$;

-- The end of the bucket (end - size, end] that holds a moment.
CREATE FUNCTION bucket_end(moment timestamptz, bucket_seconds integer) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS
$$
SELECT date_bin(bucket_seconds * interval '1 second', moment - interval '1 microsecond', to_timestamp(0))
       + bucket_seconds * interval '1 second'
$$;

-- The dollar price of a chain's native coin nearest a moment within an hour, the earlier of two as near;
-- no row if there is none. A set, because PostgreSQL inlines that and not a scalar with a table in it.
CREATE FUNCTION nearest_price(chain text, moment timestamptz) RETURNS SETOF numeric
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS
$$
SELECT near.usd
  FROM ((SELECT price.usd, moment - price.priced_at AS distance, 0 AS later
           FROM native_prices AS price
          WHERE price.currency = native_currency(chain)
            AND price.priced_at BETWEEN moment - interval '1 hour' AND moment
          ORDER BY price.priced_at DESC
          LIMIT 1)
        UNION ALL
        (SELECT price.usd, price.priced_at - moment, 1
           FROM native_prices AS price
          WHERE price.currency = native_currency(chain)
            AND price.priced_at > moment
            AND price.priced_at <= moment + interval '1 hour'
          ORDER BY price.priced_at
          LIMIT 1)) AS near
 ORDER BY near.distance, near.later
 LIMIT 1
$$;

-- The dollar price of a chain's native coin that was the latest at a moment; NULL if there is none.
CREATE FUNCTION latest_price(chain text, moment timestamptz) RETURNS numeric
LANGUAGE sql STABLE PARALLEL SAFE AS
$$
SELECT price.usd
  FROM native_prices AS price
 WHERE price.currency = native_currency(chain)
   AND price.priced_at <= moment
 ORDER BY price.priced_at DESC
 LIMIT 1
$$;

-- The dollar value of trades, of which some may have none of their own and take the latest native price;
-- NULL when none of them has a value.
CREATE FUNCTION usd_total(
    txn numeric, unpriced_txn numeric, volume_usd numeric, unpriced_volume numeric, latest_usd numeric
) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$
SELECT CASE WHEN latest_usd IS NOT NULL THEN volume_usd + unpriced_volume * latest_usd
            WHEN txn = 0 OR unpriced_txn < txn THEN volume_usd
       END
$$;

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
    realized_usd numeric
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
                 ELSE quotient(state.acquired_at * state.quantity + at * amount, state.quantity + amount)
            END,
            greatest(state.peak, state.quantity + amount),
            COALESCE(token_name, state.token_name),
            NULL, NULL, NULL, NULL)::walk_state;
    END IF;

    -- What is sold beyond the quantity came in without a buy: neither profit nor loss.
    covered := least(amount, state.quantity);
    IF covered = 0 THEN
        RETURN ROW(
            state.quantity, state.cost, state.cost_usd, state.acquired_at, state.peak,
            COALESCE(token_name, state.token_name),
            NULL, NULL, NULL, CASE WHEN value_usd IS NOT NULL THEN 0 END)::walk_state;
    END IF;
    rest := state.quantity - covered;
    IF rest = 0 THEN
        covered_cost := state.cost;
        covered_usd := state.cost_usd;
        state.cost := 0;
        state.cost_usd := 0;
    ELSE
        covered_cost := quotient(state.cost * covered, state.quantity);
        covered_usd := quotient(state.cost_usd * covered, state.quantity);
        IF covered_cost < 0.0001 THEN
            covered_cost := small_quotient(state.cost * covered, state.quantity);
        END IF;
        -- The difference of two numbers that are nearly equal would have few digits left.
        IF rest * 10000 < state.quantity THEN
            state.cost := small_quotient(state.cost * rest, state.quantity);
        ELSE
            state.cost := state.cost - covered_cost;
        END IF;
        state.cost_usd := state.cost_usd - covered_usd;
    END IF;
    RETURN ROW(
        rest, state.cost, state.cost_usd, state.acquired_at, state.peak,
        COALESCE(token_name, state.token_name),
        CASE WHEN covered = amount THEN value ELSE small_quotient(value * covered, amount) END - covered_cost,
        covered_cost,
        at - state.acquired_at,
        CASE WHEN covered = amount THEN value_usd ELSE quotient(value_usd * covered, amount) END - covered_usd
    )::walk_state;
END
$$;

-- The walk over a position's trades, as a window function in the order of the trades.
CREATE AGGREGATE walk(walk_state, boolean, numeric, numeric, numeric, numeric, text) (
    sfunc = walk_step,
    stype = walk_state
);
