-- The wallets with trades that are not filled yet. Needs lifetimes_pkey, positions_pkey.
SELECT DISTINCT positions.wallet_id
  FROM positions
  LEFT JOIN lifetimes
    ON lifetimes.wallet_id = positions.wallet_id
 WHERE lifetimes.last_seen IS NULL
    OR positions.bought_tokens IS NULL
 ORDER BY positions.wallet_id
