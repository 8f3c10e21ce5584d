-- What is read of a tracked wallet.

-- find --
-- The id and type of a tracked wallet, and over what time a sync has read all of its trades.
-- Needs wallets_blockchain_address_key, sync_wallets_pkey, sync_chains_pkey.
SELECT wallets.wallet_id,
       type,
       {ledger.history_span}
  FROM wallets
  LEFT JOIN sync_wallets AS state
    ON state.wallet_id = wallets.wallet_id
  LEFT JOIN sync_chains AS chain
    ON chain.blockchain = wallets.blockchain
   AND state.is_with_chain
 WHERE wallets.blockchain = %(blockchain)s
   AND address = %(address)s;

-- count_tokens --
-- How many tokens a wallet has traded; no row for a wallet that never traded. Needs lifetimes_pkey.
SELECT tokens
  FROM lifetimes
 WHERE wallet_id = %(wallet_id)s;
