-- What is read of a tracked wallet.

-- find --
-- The id and type of a tracked wallet, and since when a sync has read all of its trades.
-- Needs wallets_blockchain_address_key, sync_wallets_pkey.
SELECT wallets.wallet_id,
       type,
       iso_time(synced_from) AS history_since
  FROM wallets
  LEFT JOIN sync_wallets
    ON sync_wallets.wallet_id = wallets.wallet_id
 WHERE blockchain = %(blockchain)s
   AND address = %(address)s;

-- count_tokens --
-- How many tokens a wallet has traded; no row for a wallet that never traded. Needs lifetimes_pkey.
SELECT tokens
  FROM lifetimes
 WHERE wallet_id = %(wallet_id)s;
