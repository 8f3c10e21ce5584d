-- The lifetimes of wallets whose type has changed, in their new groups. Needs lifetimes_pkey, wallets_pkey.
UPDATE lifetimes
   SET type = wallets.type
  FROM wallets
 WHERE wallets.wallet_id = lifetimes.wallet_id
   AND lifetimes.wallet_id = ANY (%(wallet_ids)s)
   AND lifetimes.type <> wallets.type
