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
  LEFT JOIN sync_wallets AS state
    ON state.wallet_id = wallets.wallet_id
  LEFT JOIN sync_chains AS chain
    ON chain.blockchain = wallets.blockchain
   AND state.is_with_chain
 WHERE wallets.blockchain = ANY (%(blockchains)s::text[])
   AND address = ANY (%(addresses)s::text[])
 ORDER BY array_position(%(blockchains)s::text[], wallets.blockchain)
