-- Remove some wallets; their snapshots and their state of the sync follow by foreign key. Needs wallets_pkey.
DELETE FROM wallets
 WHERE wallet_id = ANY (%(wallet_ids)s)
