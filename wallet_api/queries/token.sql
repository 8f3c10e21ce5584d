-- What is known of a token that any tracked wallet ever traded.
-- Needs native_prices_pkey, and what token_block.sql needs.
  WITH
{latest_price},
{token_block}
SELECT *
  FROM token_block
