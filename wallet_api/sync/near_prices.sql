-- The dollar price of the native coin nearest each moment within an hour, as nearest_price() would find it, NULL if
-- there is none. Needs native_prices_pkey.
SELECT wanted.blockchain,
       wanted.moment,
       CASE WHEN later.priced_at - wanted.moment < wanted.moment - earlier.priced_at THEN later.usd
            ELSE COALESCE(earlier.usd, later.usd)
       END AS usd
  FROM unnest(%(blockchains)s::text[], %(moments)s::timestamptz[]) AS wanted (blockchain, moment)
  LEFT JOIN LATERAL (
       SELECT price.priced_at,
              price.usd
         FROM native_prices AS price
        WHERE price.currency = native_currency(wanted.blockchain)
          AND price.priced_at BETWEEN wanted.moment - interval '1 hour' AND wanted.moment
        ORDER BY price.priced_at DESC
        LIMIT 1) AS earlier
    ON TRUE
  LEFT JOIN LATERAL (
       SELECT price.priced_at,
              price.usd
         FROM native_prices AS price
        WHERE price.currency = native_currency(wanted.blockchain)
          AND price.priced_at > wanted.moment
          AND price.priced_at <= wanted.moment + interval '1 hour'
        ORDER BY price.priced_at
        LIMIT 1) AS later
    ON TRUE
