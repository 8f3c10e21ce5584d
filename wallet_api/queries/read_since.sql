-- The wallets of a group of which a sync has read all trades only since a time after another one: before it, some may be missing.
-- Needs wallets_by_group, sync_wallets_pkey.
SELECT address,
       iso_time(synced_from) AS history_since
  FROM wallets
  JOIN sync_wallets
    ON sync_wallets.wallet_id = wallets.wallet_id
 WHERE blockchain = %(blockchain)s
   AND type = ANY (%(types)s::text[])
   AND synced_from > %(since)s::timestamptz
