-- How far a chain that is read block by block has been read.

-- move --
-- Save how far, for all of its wallets. Needs sync_chains_pkey.
INSERT INTO sync_chains AS chain (blockchain, synced_until, tried_at)
VALUES (%(blockchain)s, %(synced_until)s, %(tried_at)s)
    ON CONFLICT (blockchain) DO UPDATE
   SET synced_until = excluded.synced_until,
       tried_at = excluded.tried_at,
       failure = NULL;

-- join --
-- From now on, wallets are read as far as their chain. Needs sync_wallets_pkey.
UPDATE sync_wallets
   SET is_with_chain = true
 WHERE wallet_id = ANY(%(wallet_ids)s::bigint[]);

-- leave --
-- From now on, wallets are read as far as they have been, by themselves. Needs sync_wallets_pkey, sync_chains_pkey.
UPDATE sync_wallets AS state
   SET is_with_chain = false,
       synced_until = chain.synced_until
  FROM sync_chains AS chain
 WHERE chain.blockchain = %(blockchain)s
   AND state.wallet_id = ANY(%(wallet_ids)s::bigint[])
   AND state.is_with_chain;

-- fail --
-- Save a failure, which leaves the position as it is. Needs sync_chains_pkey.
UPDATE sync_chains
   SET tried_at = %(tried_at)s,
       failure = %(failure)s
 WHERE blockchain = %(blockchain)s;

-- tracked --
-- Those of some wallets that are still tracked. Needs wallets_pkey.
SELECT wallet_id
  FROM wallets
 WHERE wallet_id = ANY(%(wallet_ids)s::bigint[])
