-- Who may ask. Plain tables on the primary, also where the ledger is sharded.

-- credits is the balance that no lease holds; NULL is unlimited. rate NULL is the service's default.
-- Half of each page stays free, so that a charge, which rewrites the row, touches no index.
CREATE TABLE api_keys (
    key_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
    credits bigint CHECK (credits >= 0),
    rate text CHECK (rate ~ '^[1-9][0-9]*/(second|minute|hour|day)$'),
    expires_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);

-- Credits taken out of a balance by one worker, which spends them and returns the rest: docs/credits.md.
-- spent is as of the lease's last renewal; the worker's journal knows what it spent since.
CREATE TABLE credit_leases (
    lease_id uuid PRIMARY KEY,
    key_id bigint NOT NULL REFERENCES api_keys,
    worker uuid NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    spent bigint NOT NULL DEFAULT 0,
    taken_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX credit_leases_by_key ON credit_leases (key_id);
CREATE INDEX credit_leases_by_worker ON credit_leases (worker);

-- One row: the name of this set of balances, which tells workers' files of different services apart.
CREATE TABLE credit_ledger (
    ledger uuid NOT NULL DEFAULT gen_random_uuid()
);

INSERT INTO credit_ledger DEFAULT VALUES;
