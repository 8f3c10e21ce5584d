-- The latest price of a native coin.
-- Needs native_prices_pkey.
  WITH
{latest_price}
SELECT round_half_up(usd, 18) AS native_price_usd
  FROM latest
