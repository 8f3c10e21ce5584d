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
  LEFT JOIN sync_wallets AS state
    ON state.wallet_id = wallets.wallet_id
  LEFT JOIN sync_chains AS chain
    ON chain.blockchain = wallets.blockchain
   AND state.is_with_chain
 WHERE wallets.blockchain = ANY(%(blockchains)s::text[])
 ORDER BY state.tried_at NULLS FIRST, wallets.wallet_id
