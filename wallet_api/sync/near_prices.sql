-- The dollar price of the native coin nearest each moment within an hour, NULL if there is none.
-- Needs native_prices_pkey.
SELECT wanted.blockchain,
       wanted.moment,
       near.usd
  FROM unnest(%(blockchains)s::text[], %(moments)s::timestamptz[]) AS wanted (blockchain, moment)
  LEFT JOIN LATERAL nearest_price(wanted.blockchain, wanted.moment) AS near (usd)
    ON TRUE
