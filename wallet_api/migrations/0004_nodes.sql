-- What nodes tell beside trades: the blocks that were read, and the face of each token.

-- The last blocks of a chain of which trades were read: docs/sync.md. Their hashes show what a reorganisation removed.
-- transactions are those of tracked wallets.
CREATE TABLE sync_blocks (
    blockchain text NOT NULL,
    number bigint NOT NULL,
    hash text NOT NULL,
    created_at timestamptz NOT NULL,
    transactions text[] NOT NULL,
    PRIMARY KEY (blockchain, number)
);

-- How many calls of each method the node of a chain got: since ever, and a minute between the ends of the last two rounds.
CREATE TABLE sync_methods (
    blockchain text NOT NULL,
    method text NOT NULL,
    total bigint NOT NULL,
    per_minute double precision NOT NULL,
    saved_at timestamptz NOT NULL,
    PRIMARY KEY (blockchain, method)
) WITH (fillfactor = 50);

-- What nodes return of tokens. What they do not return is NULL; supply is in whole tokens. tried_at is the time of the
-- last attempt, read_at that of the last success.
CREATE TABLE token_faces (
    token_id bigint PRIMARY KEY,
    symbol text,
    name text,
    decimals integer,
    supply numeric,
    tried_at timestamptz NOT NULL,
    read_at timestamptz
) WITH (fillfactor = 80);

CREATE INDEX token_faces_by_trial ON token_faces (tried_at);
