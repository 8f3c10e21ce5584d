-- How many trades are staged, and of how many wallets.
SELECT count(DISTINCT wallet_id) AS wallets,
       count(*) AS trades
  FROM removed_trades
