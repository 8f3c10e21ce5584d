-- How many wallets are staged, and how many trades they have. Needs trades_pkey.
  WITH staged AS MATERIALIZED (
       SELECT wallet_id
         FROM removed_wallets
       )
SELECT (SELECT count(*)
          FROM staged) AS wallets,
       (SELECT count(*)
          FROM staged
          JOIN trades
            ON trades.wallet_id = staged.wallet_id) AS trades
