-- How many wallets are staged, and how many trades they have. Needs trades_pkey.
SELECT count(DISTINCT removed_wallets.wallet_id) AS wallets,
       count(trades.wallet_id) AS trades
  FROM removed_wallets
  LEFT JOIN trades
    ON trades.wallet_id = removed_wallets.wallet_id
