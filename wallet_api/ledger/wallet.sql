-- What is read of a tracked wallet.

-- find --
-- The id and type of a tracked wallet, and over what time a sync has read all of its trades.
-- Needs wallets_blockchain_address_key, sync_wallets_pkey, sync_chains_pkey.
SELECT wallets.wallet_id,
       type,
       {ledger.history_span}
  FROM wallets
{ledger.sync_state}
 WHERE wallets.blockchain = %(blockchain)s
   AND address = %(address)s;

-- count_tokens --
-- How many tokens a wallet has traded; no row for a wallet that never traded. Needs lifetimes_pkey.
SELECT tokens
  FROM lifetimes
 WHERE wallet_id = %(wallet_id)s;
