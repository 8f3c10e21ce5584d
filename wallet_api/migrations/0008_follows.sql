-- What follows chains within seconds: docs/sync.md.

-- Transactions of which trades may have been imported before their block was final. number is that of the block (a slot),
-- created_at its time, seen_at when the transaction was first seen in it.
CREATE TABLE sync_unfinal (
    wallet_id bigint NOT NULL REFERENCES wallets ON DELETE CASCADE,
    tx_signature text NOT NULL,
    number bigint NOT NULL,
    created_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (wallet_id, tx_signature)
);

CREATE INDEX sync_unfinal_by_time ON sync_unfinal (seen_at);

-- How a chain is followed: by which method, how many of its wallets, and whether the connection is up. Connections made
-- again and wallets read because of a gap are counted since ever.
CREATE TABLE sync_follows (
    blockchain text PRIMARY KEY,
    method text NOT NULL,
    wallets bigint NOT NULL,
    followed bigint NOT NULL,
    is_connected boolean NOT NULL,
    reconnects bigint NOT NULL,
    gaps bigint NOT NULL,
    saved_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- How many new trades were in the ledger at most so many seconds after their block, but not after the next smaller
-- number, and the sum of their seconds.
CREATE TABLE sync_delays (
    blockchain text NOT NULL,
    at_most double precision NOT NULL,
    trades bigint NOT NULL,
    seconds double precision NOT NULL,
    PRIMARY KEY (blockchain, at_most)
) WITH (fillfactor = 50);
