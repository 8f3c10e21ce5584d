-- Remove the groups without wallets, and return them.
DELETE FROM wallet_groups
 WHERE wallet_count = 0
RETURNING blockchain,
          type
