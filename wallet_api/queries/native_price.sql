-- The latest price of a native coin, and its time; NULL without one.
-- Needs native_prices_pkey.
  WITH
{latest_price}
SELECT
{coin_price}
