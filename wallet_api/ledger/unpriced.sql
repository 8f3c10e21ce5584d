-- The trades without a dollar value that have a price within an hour by now: as fresh ones with that value. Needs trades_without_usd, native_prices_pkey.
INSERT INTO fresh
SELECT trades.wallet_id,
       trades.token_id,
       trades.created_at,
       trades.event_index,
       trades.is_sell,
       TRUE AS usd_derived,
       trades.tx_signature,
       trades.token_name,
       trades.token_amount,
       trades.value,
       trades.value * price.usd AS value_usd
  FROM trades
  JOIN wallets
    ON wallets.wallet_id = trades.wallet_id
 CROSS JOIN LATERAL nearest_price(wallets.blockchain, trades.created_at) AS price (usd)
 WHERE trades.value_usd IS NULL
   AND trades.created_at >= %(earliest)s::timestamptz - interval '1 hour'
   AND trades.created_at <= %(latest)s::timestamptz + interval '1 hour'
   AND price.usd IS NOT NULL
