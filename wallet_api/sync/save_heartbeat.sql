-- Save a successful round. Needs sync_heartbeats_pkey.
INSERT INTO sync_heartbeats AS last (job, blockchain, succeeded_at, wallets, failed, delay_seconds)
VALUES (%(job)s, %(blockchain)s, %(succeeded_at)s, %(wallets)s, %(failed)s, %(delay_seconds)s::double precision)
    ON CONFLICT (job, blockchain) DO UPDATE
   SET succeeded_at = excluded.succeeded_at,
       wallets = excluded.wallets,
       failed = excluded.failed,
       delay_seconds = COALESCE(excluded.delay_seconds, last.delay_seconds)
