-- The profiles of some addresses on all chains that track them, in the order of the chains, and since when a sync has read all
-- of their trades.
-- Needs wallets_blockchain_address_key, sync_wallets_pkey.
SELECT address AS wallet_address,
       name,
       image_url,
       twitter,
       telegram,
       copytrade_link,
       blockchain,
       type,
       iso_time(synced_from) AS history_since
  FROM wallets
  LEFT JOIN sync_wallets
    ON sync_wallets.wallet_id = wallets.wallet_id
 WHERE blockchain = ANY (%(blockchains)s::text[])
   AND address = ANY (%(addresses)s::text[])
 ORDER BY array_position(%(blockchains)s::text[], blockchain)
