-- The names and prices of some tokens of a chain, in the requested order; of one that no tracked wallet ever traded, that it
-- is unknown.
-- Needs native_prices_pkey, and what token_block.sql needs.
  WITH
{latest_price},
{token_block},
       shown AS (
       SELECT requested.place,
              requested.mint,
              token_block.token_id IS NOT NULL AS found,
              symbol,
              COALESCE(token_name, '') AS token_name,
              token_decimals,
              token_supply,
              price,
              price_usd,
              price_at,
              market_cap,
              market_cap_usd
         FROM unnest(%(mints)s::text[]) WITH ORDINALITY AS requested (mint, place)
         LEFT JOIN token_block
           ON token_block.mint = requested.mint
       ),
       head AS (
       SELECT 1 AS place,
              ARRAY(SELECT token_id
                      FROM newest_trade
                     WHERE NOT makes_price) AS unpriced_ids
       )
SELECT head.*,
       shown.*
  FROM head
  FULL JOIN shown
 USING (place)
 ORDER BY shown.place
