-- How chains are followed.

-- save --
-- Save how a chain is followed, and add what was counted. Needs sync_follows_pkey.
INSERT INTO sync_follows AS follow (blockchain, method, wallets, followed, is_connected, reconnects, gaps, saved_at)
VALUES (%(blockchain)s, %(method)s, %(wallets)s, %(followed)s, %(is_connected)s, %(reconnects)s, %(gaps)s, %(now)s)
    ON CONFLICT (blockchain) DO UPDATE
   SET method = excluded.method,
       wallets = excluded.wallets,
       followed = excluded.followed,
       is_connected = excluded.is_connected,
       reconnects = follow.reconnects + excluded.reconnects,
       gaps = follow.gaps + excluded.gaps,
       saved_at = excluded.saved_at;

-- forget --
-- Forget chains that are no longer followed. Needs sync_follows_pkey.
DELETE FROM sync_follows
 WHERE blockchain = ANY(%(blockchains)s::text[]);

-- all --
-- Those that are followed. Needs sync_follows_pkey.
SELECT blockchain,
       method,
       wallets,
       followed,
       is_connected AND saved_at > %(saved_after)s AS is_connected,
       reconnects,
       gaps
  FROM sync_follows
 ORDER BY blockchain
