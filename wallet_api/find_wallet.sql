-- The id and type of a tracked wallet. Needs wallets_blockchain_address_key.
SELECT wallet_id,
       type
  FROM wallets
 WHERE blockchain = %(blockchain)s
   AND address = %(address)s
