-- Remove the positions of the staged wallets. Needs positions_pkey.
DELETE FROM positions
 USING removed_wallets
 WHERE positions.wallet_id = removed_wallets.wallet_id
