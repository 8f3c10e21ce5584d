-- The tables of one import session, empty again at each commit.
CREATE TEMP TABLE IF NOT EXISTS incoming_tokens (
    token_number integer NOT NULL,
    blockchain text NOT NULL,
    mint text COLLATE "C" NOT NULL
) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS batch_tokens (
    token_number integer NOT NULL,
    blockchain text NOT NULL,
    token_id bigint NOT NULL
) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS incoming (
    wallet_id bigint NOT NULL,
    token_number integer NOT NULL,
    created_at timestamptz NOT NULL,
    event_index integer NOT NULL,
    is_sell boolean NOT NULL,
    tx_signature text COLLATE "C" NOT NULL,
    token_name text,
    token_amount numeric NOT NULL,
    value numeric NOT NULL,
    value_usd numeric
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
    value_usd numeric
) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE IF NOT EXISTS touched (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    rewalk boolean NOT NULL,
    start walk_state NOT NULL
) ON COMMIT DELETE ROWS;

-- sign is 1 for a trade as the walk leaves it, -1 for what it replaces; the latter's figures are negated,
-- so that sums over both are differences.
CREATE TEMP TABLE IF NOT EXISTS walked (
    sign integer NOT NULL,
    rewalk boolean NOT NULL,
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
    quantity numeric,
    cost numeric,
    cost_usd numeric,
    acquired_at numeric,
    peak numeric,
    position_name text,
    realized numeric,
    realized_cost numeric,
    hold_seconds numeric,
    realized_usd numeric
) ON COMMIT DELETE ROWS
