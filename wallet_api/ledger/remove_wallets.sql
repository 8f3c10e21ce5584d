-- Remove the staged wallets; their snapshots and their state of the sync follow by foreign key.
-- Needs wallets_pkey.
DELETE FROM wallets
 USING removed_wallets
 WHERE wallets.wallet_id = removed_wallets.wallet_id
