-- For other statements to include: the latest native price, of latest_price.sql, as it is shown; NULL without one.
(SELECT round_half_up(usd, 18) FROM latest) AS native_price_usd,
(SELECT iso_time(priced_at) FROM latest) AS native_price_at
