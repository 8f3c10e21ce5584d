-- The tracked wallets of some chains, and how far each has been synced: new ones first, then those tried
-- longest ago. Needs sync_wallets_pkey.
SELECT wallets.wallet_id,
       wallets.blockchain,
       wallets.address,
       state.synced_from,
       state.synced_until,
       state.rechecked_at,
       state.tried_at,
       state.failure
  FROM wallets
  LEFT JOIN sync_wallets AS state
    ON state.wallet_id = wallets.wallet_id
 WHERE wallets.blockchain = ANY(%(blockchains)s::text[])
 ORDER BY state.tried_at NULLS FIRST, wallets.wallet_id
