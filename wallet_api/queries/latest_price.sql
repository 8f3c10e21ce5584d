-- For other statements to include. It adds latest (currency, usd), the latest price of the native currency; NULL without one.
-- Needs native_prices_pkey.
       latest AS MATERIALIZED (
       SELECT %(currency)s::text AS currency,
              (SELECT usd
                 FROM native_prices
                WHERE currency = %(currency)s
                  AND priced_at <= %(now)s
                ORDER BY priced_at DESC
                LIMIT 1) AS usd
       )
