-- For other statements to include, after trade (currency, created_at, wants_price) in their FROM: nearest_price (usd), the
-- dollar price nearest the trade within an hour, the earlier of two that are equally near; NULL if there is none, or
-- none is wanted. Citus accepts no function that reads a table in its place. Needs native_prices_pkey.
  LEFT JOIN LATERAL (
       SELECT price.priced_at,
              price.usd
         FROM native_prices AS price
        WHERE trade.wants_price
          AND price.currency = trade.currency
          AND price.priced_at BETWEEN trade.created_at - interval '1 hour' AND trade.created_at
        ORDER BY price.priced_at DESC
        LIMIT 1) AS earlier
    ON TRUE
  LEFT JOIN LATERAL (
       SELECT price.priced_at,
              price.usd
         FROM native_prices AS price
        WHERE trade.wants_price
          AND price.currency = trade.currency
          AND price.priced_at > trade.created_at
          AND price.priced_at <= trade.created_at + interval '1 hour'
        ORDER BY price.priced_at
        LIMIT 1) AS later
    ON TRUE
 CROSS JOIN LATERAL (
       SELECT CASE WHEN later.priced_at - trade.created_at < trade.created_at - earlier.priced_at THEN later.usd
                   ELSE COALESCE(earlier.usd, later.usd)
              END AS usd) AS nearest_price
