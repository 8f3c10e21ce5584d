-- Save a successful round. Needs sync_heartbeats_pkey.
INSERT INTO sync_heartbeats (job, blockchain, succeeded_at, wallets, failed)
VALUES (%(job)s, %(blockchain)s, %(succeeded_at)s, %(wallets)s, %(failed)s)
    ON CONFLICT (job, blockchain) DO UPDATE
   SET succeeded_at = excluded.succeeded_at,
       wallets = excluded.wallets,
       failed = excluded.failed
