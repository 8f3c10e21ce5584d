-- How many transactions of some chains are kept for a reason. Needs wallets_pkey.
SELECT count(*) AS count
  FROM sync_left_out AS kept
  JOIN wallets
    ON wallets.wallet_id = kept.wallet_id
 WHERE wallets.blockchain = ANY(%(blockchains)s::text[])
   AND kept.reason = %(reason)s
