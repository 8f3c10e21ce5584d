-- Remove the groups without wallets.
DELETE FROM wallet_groups
 WHERE wallet_count = 0
