-- The profiles of some addresses on all chains that track them, in the order of the chains.
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
   AND address = ANY (%(addresses)s::text[])
 ORDER BY array_position(%(blockchains)s::text[], blockchain)
