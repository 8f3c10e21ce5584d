-- For other statements to include. It adds latest (currency, usd, priced_at), the latest price of the native currency and its
-- time; NULL without one.
-- Needs native_prices_pkey.
       latest AS MATERIALIZED (
       SELECT %(currency)s::text AS currency,
              price.usd,
              price.priced_at
         FROM (SELECT) AS always
         LEFT JOIN (SELECT usd,
                           priced_at
                      FROM native_prices
                     WHERE currency = %(currency)s
                       AND priced_at <= %(now)s
                     ORDER BY priced_at DESC
                     LIMIT 1) AS price
           ON TRUE
       )
