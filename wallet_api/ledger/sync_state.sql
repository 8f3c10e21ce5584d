-- For other statements to include, after `wallets`: how far a sync has read each of them, or its chain. Needs sync_wallets_pkey,
-- sync_chains_pkey.
  LEFT JOIN sync_wallets AS state
    ON state.wallet_id = wallets.wallet_id
  LEFT JOIN sync_chains AS chain
    ON chain.blockchain = wallets.blockchain
   AND state.is_with_chain
