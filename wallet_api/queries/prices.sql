-- The names and prices of some tokens of a chain at a moment, in the requested order; of one that no tracked wallet ever traded,
-- that it is unknown. The token `native` is the coin of the chain.
-- %(price_oldest_at)s is before all trades: the last price is shown however old it is, as the price only since `fresh_since`.
-- Needs native_prices_pkey, and what token_block.sql needs.
  WITH
{latest_price},
{token_block},
       shown AS (
       SELECT requested.place,
              requested.mint,
              token_block.token_id IS NOT NULL AS found,
              symbol,
              COALESCE(token_block.token_name, '') AS token_name,
              token_decimals,
              token_supply,
              CASE WHEN is_fresh THEN token_block.price END AS price,
              CASE WHEN is_fresh THEN price_usd END AS price_usd,
              CASE WHEN is_fresh THEN token_block.price_at END AS price_at,
              CASE WHEN is_fresh THEN price_source END AS price_source,
              CASE WHEN is_fresh THEN liquidity_usd END AS liquidity_usd,
              token_block.price AS last_price,
              token_block.price_at AS last_price_at,
              CASE WHEN is_fresh THEN market_cap END AS market_cap,
              CASE WHEN is_fresh THEN market_cap_usd END AS market_cap_usd
         FROM unnest(%(mints)s::text[]) WITH ORDINALITY AS requested (mint, place)
         LEFT JOIN token_block
           ON token_block.mint = requested.mint
         LEFT JOIN (SELECT token_id,
                           price_at >= %(fresh_since)s AS is_fresh
                      FROM token_price) AS age
           ON age.token_id = token_block.token_id
        WHERE requested.mint <> 'native'
        UNION ALL
       SELECT requested.place,
              requested.mint,
              TRUE,
              latest.currency,
              %(coin_name)s,
              %(coin_decimals)s,
              NULL,
              1,
              round_half_up(latest.usd, 18),
              iso_time(latest.priced_at),
              NULL,
              NULL,
              1,
              iso_time(latest.priced_at),
              NULL,
              NULL
         FROM unnest(%(mints)s::text[]) WITH ORDINALITY AS requested (mint, place)
        CROSS JOIN latest
        WHERE requested.mint = 'native'
       ),
       head AS (
       SELECT 1 AS place,
{coin_price}
       )
{lists: shown}
