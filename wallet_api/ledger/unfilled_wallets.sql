-- The wallets with trades that are not filled yet. Needs lifetimes_pkey, positions_pkey, trades_pkey.
SELECT wallets.wallet_id
  FROM wallets
  LEFT JOIN lifetimes
    ON lifetimes.wallet_id = wallets.wallet_id
 WHERE (lifetimes.last_seen IS NULL
        OR EXISTS (SELECT FROM positions
                    WHERE positions.wallet_id = wallets.wallet_id
                      AND positions.bought_tokens IS NULL))
   AND EXISTS (SELECT FROM trades
                WHERE trades.wallet_id = wallets.wallet_id)
 ORDER BY wallets.wallet_id
