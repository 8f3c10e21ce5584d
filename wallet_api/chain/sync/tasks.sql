-- How far tracked wallets have been read: each by itself, or with its chain, which has one position.

-- due --
-- The tracked wallets of some chains, and how far each has been synced: new ones first, then those tried
-- longest ago. Needs sync_wallets_pkey, sync_chains_pkey.
SELECT wallets.wallet_id,
       wallets.blockchain,
       wallets.address,
       chain.blockchain IS NOT NULL AS is_with_chain,
       state.synced_from,
       COALESCE(chain.synced_until, state.synced_until) AS synced_until,
       state.rechecked_at,
       COALESCE(chain.tried_at, state.tried_at) AS tried_at,
       CASE WHEN chain.blockchain IS NULL THEN state.failure ELSE chain.failure END AS failure
  FROM wallets
{ledger.sync_state}
 WHERE wallets.blockchain = ANY(%(blockchains)s::text[])
 ORDER BY state.tried_at NULLS FIRST, wallets.wallet_id;

-- save --
-- Save the span of which the trades of tracked wallets are imported, or a failure, which leaves the span as
-- it is; return the wallets, which are no longer read with their chain. Needs wallets_pkey,
-- sync_wallets_pkey.
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
RETURNING wallet_id;

-- move --
-- Save how far a chain has been read, for all of its wallets. Needs sync_chains_pkey.
INSERT INTO sync_chains AS chain (blockchain, synced_until, tried_at, rechecked_until)
VALUES (%(blockchain)s, %(synced_until)s, %(tried_at)s, %(synced_until)s)
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
-- From now on, wallets are read as far as they have been, by themselves. Needs sync_wallets_pkey,
-- sync_chains_pkey.
UPDATE sync_wallets AS state
   SET is_with_chain = false,
       synced_until = chain.synced_until
  FROM sync_chains AS chain
 WHERE chain.blockchain = %(blockchain)s
   AND state.wallet_id = ANY(%(wallet_ids)s::bigint[])
   AND state.is_with_chain;

-- fail --
-- Save a failure of a chain, which leaves its position as it is. Needs sync_chains_pkey.
UPDATE sync_chains
   SET tried_at = %(tried_at)s,
       failure = %(failure)s
 WHERE blockchain = %(blockchain)s;

-- tracked --
-- Those of some wallets that are still tracked. Needs wallets_pkey.
SELECT wallet_id
  FROM wallets
 WHERE wallet_id = ANY(%(wallet_ids)s::bigint[]);
