-- Note that a wallet could not be read, and why. Needs sync_wallets_pkey.
INSERT INTO sync_wallets (wallet_id, tried_at, failure)
VALUES (%(wallet_id)s, %(tried_at)s, %(failure)s)
    ON CONFLICT (wallet_id) DO UPDATE
   SET tried_at = excluded.tried_at,
       failure = excluded.failure
