-- The hours without a native price: those since a time, and those of trades without a dollar value.
-- Needs native_prices_pkey, trades_without_usd.
SELECT wanted.currency,
       wanted.hour
  FROM (SELECT currency, hour
          FROM unnest(%(currencies)s::text[]) AS currency
         CROSS JOIN generate_series(
               date_trunc('hour', %(since)s::timestamptz, 'UTC'),
               date_trunc('hour', %(now)s::timestamptz, 'UTC') - interval '1 hour',
               interval '1 hour'
               ) AS hour
         UNION
        SELECT native_currency(wallets.blockchain), date_trunc('hour', trades.created_at, 'UTC')
          FROM trades
          JOIN wallets
            ON wallets.wallet_id = trades.wallet_id
         WHERE trades.value_usd IS NULL) AS wanted
 WHERE NOT EXISTS (
       SELECT
         FROM native_prices AS price
        WHERE price.currency = wanted.currency
          AND price.priced_at >= wanted.hour
          AND price.priced_at < wanted.hour + interval '1 hour'
       )
 ORDER BY wanted.currency, wanted.hour
