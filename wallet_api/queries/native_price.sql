-- The latest price of a native coin, and its time; NULL without one.
-- Needs native_prices_pkey.
  WITH
{latest_price}
SELECT round_half_up(usd, 18) AS native_price_usd,
       iso_time(priced_at) AS native_price_at
  FROM latest
