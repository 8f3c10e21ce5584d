-- The dollar price of the native coin nearest each moment within an hour, NULL if there is none.
-- Needs native_prices_pkey.
SELECT asked.blockchain,
       asked.moment,
       near.usd
  FROM unnest(%(blockchains)s::text[], %(moments)s::timestamptz[]) AS asked (blockchain, moment)
  LEFT JOIN LATERAL nearest_price(asked.blockchain, asked.moment) AS near (usd)
    ON TRUE
