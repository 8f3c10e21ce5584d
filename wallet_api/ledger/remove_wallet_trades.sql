-- Remove the trades of the staged wallets. Needs trades_pkey.
DELETE FROM trades
 USING removed_wallets
 WHERE trades.wallet_id = removed_wallets.wallet_id
