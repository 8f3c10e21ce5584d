-- The tables of one import session, empty again at each commit.
CREATE TEMP TABLE incoming (
    line_number bigint NOT NULL,
    wallet_id bigint NOT NULL,
    blockchain text NOT NULL,
    mint text COLLATE "C" NOT NULL,
    token_name text,
    tx_signature text COLLATE "C" NOT NULL,
    is_sell boolean NOT NULL,
    token_amount numeric NOT NULL,
    value numeric NOT NULL,
    value_usd numeric,
    created_at timestamptz NOT NULL,
    event_index integer NOT NULL
) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE fresh (
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
    corrects boolean NOT NULL
) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE touched (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    rewalk boolean NOT NULL,
    start walk_state NOT NULL
) ON COMMIT DELETE ROWS;

CREATE TEMP TABLE walked (
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
    state walk_state NOT NULL
) ON COMMIT DELETE ROWS
