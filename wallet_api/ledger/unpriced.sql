-- The trades without a dollar value that have a price within an hour by now: as fresh ones with that value, by the
-- price that nearest_price() would find. Needs trades_without_usd, wallets_pkey, native_prices_pkey.
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
       trades.value * CASE WHEN later.priced_at - trades.created_at < trades.created_at - earlier.priced_at
                           THEN later.usd
                           ELSE COALESCE(earlier.usd, later.usd)
                      END AS value_usd
  FROM trades
  JOIN wallets
    ON wallets.wallet_id = trades.wallet_id
  LEFT JOIN LATERAL (
       SELECT price.priced_at,
              price.usd
         FROM native_prices AS price
        WHERE price.currency = native_currency(wallets.blockchain)
          AND price.priced_at BETWEEN trades.created_at - interval '1 hour' AND trades.created_at
        ORDER BY price.priced_at DESC
        LIMIT 1) AS earlier
    ON TRUE
  LEFT JOIN LATERAL (
       SELECT price.priced_at,
              price.usd
         FROM native_prices AS price
        WHERE price.currency = native_currency(wallets.blockchain)
          AND price.priced_at > trades.created_at
          AND price.priced_at <= trades.created_at + interval '1 hour'
        ORDER BY price.priced_at
        LIMIT 1) AS later
    ON TRUE
 WHERE trades.value_usd IS NULL
   AND trades.created_at >= %(earliest)s::timestamptz - interval '1 hour'
   AND trades.created_at <= %(latest)s::timestamptz + interval '1 hour'
   AND (earlier.usd IS NOT NULL OR later.usd IS NOT NULL)
