-- The identities to remove, for the whole session.
CREATE TEMP TABLE IF NOT EXISTS removed_wallets (
    wallet_id bigint PRIMARY KEY
);

CREATE TEMP TABLE IF NOT EXISTS removed_trades (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    tx_signature text COLLATE "C" NOT NULL,
    is_sell boolean NOT NULL,
    event_index integer NOT NULL,
    PRIMARY KEY (wallet_id, token_id, tx_signature, is_sell, event_index)
);

-- The part of removed_trades that one transaction removes.
CREATE TEMP TABLE IF NOT EXISTS removed_batch (LIKE removed_trades) ON COMMIT DELETE ROWS
