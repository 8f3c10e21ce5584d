-- The ids of tracked wallets of some chains among some addresses, of one type or of all.
-- Needs wallets_blockchain_address_key.
SELECT wallet_id,
       address
  FROM wallets
 WHERE blockchain = ANY (%(blockchains)s::text[])
   AND address = ANY (%(addresses)s::text[])
   AND type = COALESCE(%(type)s::text, type)
