-- Remove the days of the staged wallets. Needs wallet_days_pkey.
DELETE FROM wallet_days
 USING removed_wallets
 WHERE wallet_days.wallet_id = removed_wallets.wallet_id
