-- Remove the days of the positions of the staged wallets. Needs position_rollup_pkey.
DELETE FROM position_rollup
 USING removed_wallets
 WHERE position_rollup.wallet_id = removed_wallets.wallet_id
