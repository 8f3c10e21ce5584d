-- What balances are worth, of those that have a price, by their places from 0 on. The token `native` is the coin of the chain.
-- Needs tokens_blockchain_mint_key, and what latest_price.sql and token_price.sql need.
  WITH
{latest_price},
       wanted AS MATERIALIZED (
       SELECT token_id,
              mint
         FROM tokens
        WHERE blockchain = %(blockchain)s
          AND mint = ANY (%(mints)s::text[])
       ),
{token_price},
       priced AS (
       SELECT wanted.mint,
              token_price.price,
              token_price.price_at,
              token_price.price_source
         FROM token_price
         JOIN wanted
           ON wanted.token_id = token_price.token_id
        UNION ALL
       SELECT 'native',
              1,
              priced_at,
              NULL
         FROM latest
        WHERE usd IS NOT NULL
       )
SELECT held.place - 1 AS place,
       iso_time(price_at) AS price_at,
{worth}
  FROM unnest(%(mints)s::text[], %(amounts)s::numeric[]) WITH ORDINALITY AS held (mint, quantity, place)
  JOIN priced
    ON priced.mint = held.mint
 CROSS JOIN latest
