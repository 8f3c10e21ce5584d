-- Save the span of which the trades of tracked wallets are imported, or a failure, which leaves the span as it is;
-- return the wallets, which are no longer read with their chain. Needs wallets_pkey, sync_wallets_pkey.
INSERT INTO sync_wallets AS state (wallet_id, synced_from, synced_until, rechecked_at, tried_at, failure)
SELECT wallet.wallet_id,
       given.synced_from,
       %(synced_until)s::timestamptz,
       given.rechecked_at,
       %(tried_at)s::timestamptz,
       %(failure)s::text
  FROM unnest(%(wallet_ids)s::bigint[], %(synced_from)s::timestamptz[], %(rechecked_at)s::timestamptz[])
       AS given (wallet_id, synced_from, rechecked_at)
  JOIN wallets AS wallet
    ON wallet.wallet_id = given.wallet_id
    ON CONFLICT (wallet_id) DO UPDATE
   SET synced_from = COALESCE(excluded.synced_from, state.synced_from),
       synced_until = COALESCE(excluded.synced_until, state.synced_until),
       rechecked_at = COALESCE(excluded.rechecked_at, state.rechecked_at),
       tried_at = excluded.tried_at,
       failure = excluded.failure,
       is_with_chain = false
RETURNING wallet_id
