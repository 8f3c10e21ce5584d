-- Save the span of which a tracked wallet's trades are imported, or a failure, which leaves the span as it is.
-- Needs wallets_pkey, sync_wallets_pkey.
INSERT INTO sync_wallets AS state (wallet_id, synced_from, synced_until, rechecked_at, tried_at, failure)
SELECT wallet.wallet_id,
       %(synced_from)s::timestamptz,
       %(synced_until)s::timestamptz,
       %(rechecked_at)s::timestamptz,
       %(tried_at)s::timestamptz,
       %(failure)s::text
  FROM wallets AS wallet
 WHERE wallet.wallet_id = %(wallet_id)s
    ON CONFLICT (wallet_id) DO UPDATE
   SET synced_from = COALESCE(excluded.synced_from, state.synced_from),
       synced_until = COALESCE(excluded.synced_until, state.synced_until),
       rechecked_at = COALESCE(excluded.rechecked_at, state.rechecked_at),
       tried_at = excluded.tried_at,
       failure = excluded.failure
