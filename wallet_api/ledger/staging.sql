-- The temporary tables of a session that changes the ledger, empty again at the end of each transaction: staging.py.

-- The rows of a batch. One that leaves a field out keeps what the ledger has: keeps_name, keeps_value, keeps_usd,
-- keeps_exchanged, and block and block_index that are NULL. value_derived: its value was computed from value_usd.
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
    value numeric,
    keeps_value boolean NOT NULL,
    value_usd numeric,
    keeps_usd boolean NOT NULL,
    exchanged_value numeric,
    keeps_exchanged boolean NOT NULL,
    line_number bigint NOT NULL,
    value_derived boolean NOT NULL DEFAULT FALSE,
    block bigint,
    block_index integer
);

-- The values of the rows that leave theirs out.
CREATE TEMP TABLE IF NOT EXISTS valued (
    line_number bigint NOT NULL,
    value numeric NOT NULL,
    value_derived boolean NOT NULL
);

-- The trades to put in: new ones, and those that replace an earlier version. A correction has the chunk in which that first
-- arrived; what only learns its place keeps both of its chunks, so that it arrives no second time.
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
    exchanged_value numeric,
    first_arrival bigint,
    value_derived boolean NOT NULL DEFAULT FALSE,
    block bigint,
    block_index integer,
    arrival bigint NOT NULL DEFAULT 0
);

-- The trades to remove.
CREATE TEMP TABLE IF NOT EXISTS removed (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    tx_signature text COLLATE "C" NOT NULL,
    is_sell boolean NOT NULL,
    event_index integer NOT NULL
);

-- The positions that change. A late one is taken out, and walked again from its first trade.
CREATE TEMP TABLE IF NOT EXISTS affected (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    is_late boolean NOT NULL
);

-- The affected positions as they were, without the late ones: the walk continues from their state. With the key, no
-- plan compares each of them with each trade.
CREATE TEMP TABLE IF NOT EXISTS continued (
    LIKE positions,
    PRIMARY KEY (wallet_id, token_id)
);

-- The trades that are taken out: all of the late positions.
CREATE TEMP TABLE IF NOT EXISTS taken (LIKE trades);

-- The trades that are put in, with what the walk gives each. The ledger has an earlier version of those that are known, and
-- no other one of those that are not changed. state is that after a position's last trade, NULL in the others. The flags
-- come first, where reading them is fast.
CREATE TEMP TABLE IF NOT EXISTS walked (
    is_changed boolean NOT NULL,
    is_known boolean NOT NULL,
    is_last boolean NOT NULL,
    LIKE trades,
    state walk_state
);

-- Sums of the trades of a position in one day of UTC: of those that are put in (sign 1), and of those that are taken out
-- (sign -1).
CREATE TEMP TABLE IF NOT EXISTS day_sums (
    sign integer NOT NULL,
    LIKE position_days
);

-- Intraday positions that have a covered sell, as they are (sign 1) and were (sign -1).
CREATE TEMP TABLE IF NOT EXISTS intraday_positions (
    sign integer NOT NULL,
    wallet_id bigint NOT NULL,
    day date NOT NULL,
    realized numeric NOT NULL,
    realized_cost numeric NOT NULL,
    best_trade numeric NOT NULL,
    bucket integer NOT NULL
);

-- The tokens whose newest trade may have changed; newest_at is the time at which it is expected, NULL if unknown.
CREATE TEMP TABLE IF NOT EXISTS priced (
    token_id bigint NOT NULL,
    newest_at timestamptz
);

-- The newest trades of these tokens.
CREATE TEMP TABLE IF NOT EXISTS newest (LIKE token_prices);

-- Names of tokens that a search has to find; named_at is the time of the trade that has one.
CREATE TEMP TABLE IF NOT EXISTS named (
    token_id bigint NOT NULL,
    name text NOT NULL,
    named_at timestamptz
);

-- What token_ranks and token_terms should be, of some tokens.
CREATE TEMP TABLE IF NOT EXISTS wanted_ranks (LIKE token_ranks);
CREATE TEMP TABLE IF NOT EXISTS wanted_terms (LIKE token_terms);
