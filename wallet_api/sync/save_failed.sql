-- Save the failure of a tracked wallet. Needs wallets_pkey, sync_wallets_pkey.
INSERT INTO sync_wallets (wallet_id, tried_at, failure)
SELECT wallet.wallet_id,
       %(tried_at)s::timestamptz,
       %(failure)s::text
  FROM wallets AS wallet
 WHERE wallet.wallet_id = %(wallet_id)s
    ON CONFLICT (wallet_id) DO UPDATE
   SET tried_at = excluded.tried_at,
       failure = excluded.failure
