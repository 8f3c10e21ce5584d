-- What was left out by chain and reason: since ever, in the last round, and what is kept to be read again. Needs
-- wallets_pkey.
WITH kept AS (
    SELECT wallets.blockchain,
           left_out.reason,
           count(*) AS kept
      FROM sync_left_out AS left_out
      JOIN wallets
        ON wallets.wallet_id = left_out.wallet_id
     GROUP BY wallets.blockchain, left_out.reason)
SELECT counts.blockchain,
       counts.reason,
       counts.total,
       counts.last_round,
       COALESCE(kept.kept, 0) AS kept
  FROM sync_reasons AS counts
  LEFT JOIN kept
    ON kept.blockchain = counts.blockchain
   AND kept.reason = counts.reason
 ORDER BY counts.blockchain, counts.reason
