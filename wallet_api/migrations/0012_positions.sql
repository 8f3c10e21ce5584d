-- Wallets of a chain that is read block by block are read together, so that one row says how far.

-- All trades of the wallets with is_with_chain have landed until synced_until; failure is that of the last try, NULL
-- after a success.
CREATE TABLE sync_chains (
    blockchain text PRIMARY KEY,
    synced_until timestamptz NOT NULL,
    tried_at timestamptz NOT NULL,
    failure text
) WITH (fillfactor = 50);

-- Of a wallet with its chain, only synced_from is its own.
ALTER TABLE sync_wallets
    ADD COLUMN is_with_chain boolean NOT NULL DEFAULT false;
