-- For other statements to include, after their CTE latest. It adds wanted (token_id, mint), those of the tokens that any
-- tracked wallet ever traded; token_price, of token_price.sql; and token_block, their names and prices as they are shown.
-- Needs tokens_blockchain_mint_key, token_ranks_pkey, token_faces_pkey, and what token_name.sql and token_price.sql need.
       wanted AS MATERIALIZED (
       SELECT tokens.token_id,
              tokens.mint
         FROM tokens
         JOIN token_ranks
           ON token_ranks.token_id = tokens.token_id
        WHERE tokens.blockchain = %(blockchain)s
          AND tokens.mint = ANY (%(mints)s::text[])
          AND token_ranks.wallet_count > 0
       ),
{token_name},
{token_price},
       token_block AS (
       SELECT wanted.token_id,
              wanted.mint,
              face.symbol,
              COALESCE(token_name.token_name, face.name, '') AS token_name,
              face.supply,
              round_half_up(face.supply, 18) AS token_supply,
              face.decimals AS token_decimals,
              round_price(token_price.price) AS price,
              round_price(token_price.price * latest.usd) AS price_usd,
              iso_time(token_price.price_at) AS price_at,
              token_price.price_source,
              round_half_up(token_price.liquidity_usd, 4) AS liquidity_usd,
              round_half_up(token_price.price * face.supply, 9) AS market_cap,
              round_half_up(token_price.price * face.supply * latest.usd, 4) AS market_cap_usd,
              round_half_up(latest.usd, 18) AS native_price_usd,
              iso_time(latest.priced_at) AS native_price_at,
              CASE WHEN %(blockchain)s = 'solana' THEN round_half_up(latest.usd, 4) END AS sol_price_usd
         FROM wanted
        CROSS JOIN latest
         LEFT JOIN token_name
           ON token_name.token_id = wanted.token_id
         LEFT JOIN token_faces AS face
           ON face.token_id = wanted.token_id
         LEFT JOIN token_price
           ON token_price.token_id = wanted.token_id
       )
