-- How far the ledger has been brought up to date from outside: docs/sync.md.

-- All of a wallet's trades from synced_from to synced_until have landed; both are NULL before the first
-- success. The next reading starts some overlap before synced_until, or once a day before rechecked_at.
-- failure is that of the last try, NULL after a success.
CREATE TABLE sync_wallets (
    wallet_id bigint PRIMARY KEY,
    synced_from timestamptz,
    synced_until timestamptz,
    rechecked_at timestamptz,
    tried_at timestamptz NOT NULL,
    failure text
) WITH (fillfactor = 80);

-- The last successful round of a job ('trades', 'prices') for a chain.
CREATE TABLE sync_heartbeats (
    job text NOT NULL,
    blockchain text NOT NULL,
    succeeded_at timestamptz NOT NULL,
    wallets bigint NOT NULL,
    failed bigint NOT NULL,
    PRIMARY KEY (job, blockchain)
) WITH (fillfactor = 50);
