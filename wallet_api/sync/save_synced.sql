-- Note that a wallet's trades of a span have landed. Needs sync_wallets_pkey.
INSERT INTO sync_wallets AS state (wallet_id, synced_from, synced_until, rechecked_at, tried_at, failure)
VALUES (%(wallet_id)s, %(synced_from)s, %(synced_until)s, %(rechecked_at)s, %(tried_at)s, NULL)
    ON CONFLICT (wallet_id) DO UPDATE
   SET synced_from = excluded.synced_from,
       synced_until = excluded.synced_until,
       rechecked_at = COALESCE(excluded.rechecked_at, state.rechecked_at),
       tried_at = excluded.tried_at,
       failure = NULL
