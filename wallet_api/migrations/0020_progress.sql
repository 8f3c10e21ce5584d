-- A round under way: when its last result arrived, how many of its wallets have been read, and their trades.
ALTER TABLE sync_heartbeats
    ADD COLUMN arrived_at timestamptz,
    ADD COLUMN round_wallets bigint,
    ADD COLUMN round_read bigint,
    ADD COLUMN round_trades bigint;
