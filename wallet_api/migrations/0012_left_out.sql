-- What a sync leaves out.

-- The transactions of a wallet of which no trade could be made, kept to be read again. `tx_signature` is '' for
-- rows of a provider without one, `created_at` the time of the block.
CREATE TABLE sync_left_out (
    wallet_id bigint NOT NULL REFERENCES wallets ON DELETE CASCADE,
    tx_signature text NOT NULL,
    reason text NOT NULL,
    detail text NOT NULL,
    created_at timestamptz,
    first_seen_at timestamptz NOT NULL,
    tried_at timestamptz NOT NULL,
    PRIMARY KEY (wallet_id, tx_signature)
) WITH (fillfactor = 80);

CREATE INDEX sync_left_out_by_trial
    ON sync_left_out (tried_at);

-- How many transactions of a chain made no trade: since ever, each counted once, and in the last round.
CREATE TABLE sync_reasons (
    blockchain text NOT NULL,
    reason text NOT NULL,
    total bigint NOT NULL,
    last_round bigint NOT NULL,
    PRIMARY KEY (blockchain, reason)
) WITH (fillfactor = 50);

-- Half of the new trades of the last round with any were in the ledger so soon after their block.
ALTER TABLE sync_heartbeats
    ADD COLUMN delay_seconds double precision;
