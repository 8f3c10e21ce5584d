-- The hours for which the ledger should have a native price and has none: all since a time, and those
-- of trades without a dollar value. Needs native_prices_pkey, trades_without_usd.
SELECT asked.currency,
       asked.hour
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
         WHERE trades.value_usd IS NULL) AS asked
 WHERE NOT EXISTS (
       SELECT
         FROM native_prices AS price
        WHERE price.currency = asked.currency
          AND price.priced_at >= asked.hour
          AND price.priced_at < asked.hour + interval '1 hour'
       )
 ORDER BY asked.currency, asked.hour
