-- What is known of a token that any tracked wallet ever traded.
-- Needs native_prices_pkey, and what token_block.sql needs.
  WITH
{latest_price},
{token_block}
SELECT token_block.*,
       ARRAY(SELECT token_id
               FROM newest_trade
              WHERE NOT makes_price) AS unpriced_ids
  FROM token_block
