-- The latest price of a native coin.
-- Needs native_prices_pkey.
  WITH
{latest_price}
SELECT usd
  FROM latest
