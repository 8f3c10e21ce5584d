-- The tables of one import session, empty again at each commit.

-- A row that leaves a field out keeps what the ledger has: keeps_name, keeps_usd, keeps_exchanged. derives_again is set where
-- an earlier row of the batch gave the trade another value, time or USD: a derived USD is then not kept.
CREATE TEMP TABLE IF NOT EXISTS incoming (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    created_at timestamptz NOT NULL,
    event_index integer NOT NULL,
    is_sell boolean NOT NULL,
    tx_signature text COLLATE "C" NOT NULL,
    token_name text,
    keeps_name boolean NOT NULL,
    token_amount numeric NOT NULL,
    value numeric NOT NULL,
    value_usd numeric,
    keeps_usd boolean NOT NULL,
    exchanged_value numeric,
    keeps_exchanged boolean NOT NULL,
    derives_again boolean NOT NULL
) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS fresh (
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
    exchanged_value numeric
) ON COMMIT DELETE ROWS;

-- The batch's positions as the ledger has them. It is empty where all positions are to be replayed. With the key,
-- no plan compares each of them with each position of the batch.
CREATE TEMP TABLE IF NOT EXISTS known_positions (
    LIKE positions,
    PRIMARY KEY (wallet_id, token_id)
) ON COMMIT DELETE ROWS;

-- What the ledger has of the positions to be replayed.
CREATE TEMP TABLE IF NOT EXISTS known_trades (LIKE trades) ON COMMIT DELETE ROWS;

-- A position is replayed from its first trade, or appended to from `start`. was_held is NULL for new positions.
-- It, was_bucket and last_seen, of its last trade before the batch, are not used of replayed ones.
CREATE TEMP TABLE IF NOT EXISTS touched (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    replay boolean NOT NULL,
    start walk_state NOT NULL,
    was_held boolean,
    was_bucket integer,
    last_seen timestamptz
) ON COMMIT DELETE ROWS;

-- sign is 1 for a trade as the walk leaves it, -1 for what it replaces; the latter's figures are negated,
-- so that sums over both are differences. state is that after a position's last trade, NULL in the others.
CREATE TEMP TABLE IF NOT EXISTS walked (
    sign integer NOT NULL,
    replay boolean NOT NULL,
    is_last boolean NOT NULL,
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
    quantity_after numeric,
    peak_after numeric,
    state walk_state,
    exchanged_value numeric
) ON COMMIT DELETE ROWS;

-- Sums over the walked trades of one sign and position in the day (ends_at - 1 day, ends_at], those of midnight
-- by themselves: they are in the next `day`, which begins with it.
CREATE TEMP TABLE IF NOT EXISTS walked_days (
    sign integer NOT NULL,
    replay boolean NOT NULL,
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    ends_at timestamptz NOT NULL,
    is_midnight boolean NOT NULL,
    day date NOT NULL,
    buy_txn bigint NOT NULL,
    sell_txn bigint NOT NULL,
    covered_txn bigint NOT NULL,
    buys_without_usd bigint NOT NULL,
    sells_without_usd bigint NOT NULL,
    covered_without_usd bigint NOT NULL,
    invested numeric NOT NULL,
    sold numeric NOT NULL,
    bought_tokens numeric NOT NULL,
    sold_tokens numeric NOT NULL,
    invested_usd numeric NOT NULL,
    sold_usd numeric NOT NULL,
    invested_without_usd numeric NOT NULL,
    sold_without_usd numeric NOT NULL,
    realized numeric NOT NULL,
    realized_cost numeric NOT NULL,
    realized_usd numeric NOT NULL,
    hold_seconds numeric NOT NULL,
    hold_cost numeric NOT NULL,
    largest_buy numeric,
    best_trade numeric,
    worst_trade numeric,
    first_buy timestamptz,
    first_seen timestamptz NOT NULL,
    last_seen timestamptz NOT NULL
) ON COMMIT DELETE ROWS
