-- What was left out and last tried before a time, those tried longest ago first. Needs sync_left_out_by_trial,
-- wallets_pkey.
SELECT kept.wallet_id,
       wallets.blockchain,
       wallets.address,
       kept.tx_signature,
       kept.created_at
  FROM sync_left_out AS kept
  JOIN wallets
    ON wallets.wallet_id = kept.wallet_id
 WHERE kept.tried_at < %(tried_before)s
   AND kept.created_at IS NOT NULL
   AND wallets.blockchain = ANY(%(blockchains)s::text[])
 ORDER BY kept.tried_at
 LIMIT %(most)s
