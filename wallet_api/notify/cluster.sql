-- The wallets with trades in a token in (since, until], of those trades that a rule counts: the last one up to a time, and the
-- first one after it.
-- Needs tokens_blockchain_mint_key, trades_by_token, wallets_pkey.
SELECT wallets.address,
       max(trades.created_at) FILTER (WHERE trades.created_at <= %(at)s) AS last_before,
       min(trades.created_at) FILTER (WHERE trades.created_at > %(at)s) AS first_after
  FROM tokens
  JOIN trades
    ON trades.token_id = tokens.token_id
  JOIN wallets
    ON wallets.wallet_id = trades.wallet_id
 WHERE tokens.blockchain = %(chain)s
   AND tokens.mint = %(mint)s
   AND trades.created_at > %(since)s
   AND trades.created_at <= %(until)s
   AND (%(type)s::text IS NULL OR wallets.type = %(type)s::text)
   AND (%(addresses)s::text[] IS NULL OR wallets.address = ANY (%(addresses)s::text[]))
   AND (%(wants_sells)s::boolean IS NULL OR trades.is_sell = %(wants_sells)s::boolean)
   AND (%(min_value)s::numeric IS NULL OR round_half_up(trades.value, 9) >= %(min_value)s::numeric)
   AND (%(min_value_usd)s::numeric IS NULL OR round_half_up(trades.value_usd, 4) >= %(min_value_usd)s::numeric)
 GROUP BY wallets.address
