-- The names and prices of some tokens of a chain, in the requested order; of one that no tracked wallet ever traded, that it
-- is unknown.
-- Needs native_prices_pkey, and what token_block.sql needs.
  WITH
{latest_price},
{token_block},
       shown AS (
       SELECT requested.place,
              (SELECT row_to_json(token)
                 FROM (SELECT requested.mint,
                              token_block.token_id IS NOT NULL AS found,
                              symbol,
                              COALESCE(token_name, '') AS token_name,
                              token_decimals,
                              token_supply,
                              price,
                              price_usd,
                              price_at,
                              market_cap,
                              market_cap_usd) AS token) AS token
         FROM unnest(%(mints)s::text[]) WITH ORDINALITY AS requested (mint, place)
         LEFT JOIN token_block
           ON token_block.mint = requested.mint
       )
SELECT json_agg(token ORDER BY place)::text AS tokens,
       ARRAY(SELECT token_id
               FROM newest_trade
              WHERE NOT makes_price) AS unpriced_ids
  FROM shown
