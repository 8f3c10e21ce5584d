-- The profiles of some addresses on all chains that track them, in the order of the chains, and over what time a sync has read
-- all of their trades. Needs wallets_blockchain_address_key, sync_wallets_pkey, sync_chains_pkey.
SELECT address AS wallet_address,
       name,
       image_url,
       twitter,
       telegram,
       copytrade_link,
       wallets.blockchain,
       type,
       {ledger.history_span}
  FROM wallets
{ledger.sync_state}
 WHERE wallets.blockchain = ANY (%(blockchains)s::text[])
   AND address = ANY (%(addresses)s::text[])
 ORDER BY array_position(%(blockchains)s::text[], wallets.blockchain)
