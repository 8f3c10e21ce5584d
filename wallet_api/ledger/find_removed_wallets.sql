-- The wallets of the batch that are no longer tracked. Needs wallets_pkey.
SELECT batch.wallet_id
  FROM (SELECT DISTINCT wallet_id FROM incoming) AS batch
 WHERE NOT EXISTS (SELECT FROM wallets
                    WHERE wallets.wallet_id = batch.wallet_id)
