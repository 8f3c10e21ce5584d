-- For other statements to end with, after their CTE instant (token_id, newest_at): of the trades of each token at its
-- instant, the last one in the order of the feed. Needs trades_by_token, wallets_pkey.
SELECT DISTINCT ON (trades.token_id)
       trades.token_id,
       trades.created_at,
       trades.value,
       trades.value_usd,
       small_quotient(COALESCE(trades.exchanged_value, trades.value), trades.token_amount) AS price
  FROM instant
  JOIN trades
    ON trades.token_id = instant.token_id
   AND trades.created_at = instant.newest_at
  JOIN wallets
    ON wallets.wallet_id = trades.wallet_id
 WHERE trades.value > 0
   AND trades.exchanged_value IS DISTINCT FROM 0
 ORDER BY trades.token_id,
{trade_order: @ DESC},
          wallets.address DESC
