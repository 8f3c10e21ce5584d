-- The profiles of an address on those of some chains that track it, in the order of the chains.
-- Needs wallets_blockchain_address_key.
SELECT address AS wallet_address,
       name,
       image_url,
       twitter,
       telegram,
       copytrade_link,
       blockchain,
       type
  FROM wallets
 WHERE blockchain = ANY (%(blockchains)s::text[])
   AND address = %(address)s
 ORDER BY array_position(%(blockchains)s::text[], blockchain)
