-- Remove the lifetimes of the staged wallets. Needs lifetimes_pkey.
DELETE FROM lifetimes
 USING removed_wallets
 WHERE lifetimes.wallet_id = removed_wallets.wallet_id
