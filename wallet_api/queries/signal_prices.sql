-- The prices of some tokens at a moment, in native currency.
-- Needs native_prices_pkey, and what token_price.sql needs.
  WITH
{latest_price},
       wanted AS MATERIALIZED (
       SELECT token_id
         FROM unnest(%(wanted_ids)s::bigint[]) AS wanted (token_id)
       ),
{token_price}
SELECT ARRAY(SELECT token_id
               FROM token_price
              ORDER BY token_id) AS token_ids,
       ARRAY(SELECT round_half_up(price, 18)
               FROM token_price
              ORDER BY token_id) AS prices,
       ARRAY(SELECT iso_time(price_at)
               FROM token_price
              ORDER BY token_id) AS times,
       ARRAY(SELECT token_id
               FROM newest_trade
              WHERE NOT makes_price) AS unpriced_ids
