-- Those of some wallets that are not tracked. Needs wallets_pkey.
SELECT task.wallet_id
  FROM unnest(%(wallet_ids)s::bigint[]) AS task (wallet_id)
 WHERE NOT EXISTS (SELECT FROM wallets
                    WHERE wallets.wallet_id = task.wallet_id)
