-- For other statements to include, after their CTEs wanted (token_id) and latest (usd), the latest native price. It adds
-- token_price (token_id, price, price_at, price_source, liquidity_usd): the price of each wanted token, in native currency,
-- unrounded; its time; whether a trade or a market quote makes it, the newer of both; and the liquidity of the quote's pool. A
-- token without a price has no row. The price of a trade is its exchanged_value (without one, its value) / token_amount.
-- token_prices has the newest trade of each token. If that is ahead of the clock or too small, an earlier one is searched for.
-- market_prices has the newest quote. With %(quotes_until)s, of a moment of the past, that of the hours before it is searched for.
-- Needs token_prices_pkey, market_prices_pkey, and what prices_before and quotes_before need.
       newest_trade AS MATERIALIZED (
       SELECT token_prices.*,
              -- A trade without a dollar value counts with the latest native price; without one it is large enough.
              token_prices.created_at <= %(now)s
              AND COALESCE(token_prices.value_usd, token_prices.value * latest.usd, %(price_min_usd)s)
                  >= %(price_min_usd)s AS makes_price
         FROM latest
        CROSS JOIN token_prices
        -- As an array, which takes half as long as a join.
        WHERE token_prices.token_id = ANY (ARRAY(SELECT token_id
                                                   FROM wanted))
          AND token_prices.created_at >= %(price_oldest_at)s
       ),
       trade_price AS (
       SELECT token_id,
              price,
              created_at AS price_at
         FROM newest_trade
        WHERE makes_price
        UNION ALL
       SELECT searched.token_id,
              searched.price,
              searched.price_at
         FROM latest
        CROSS JOIN LATERAL prices_before(ARRAY(SELECT token_id
                                                 FROM newest_trade
                                                WHERE NOT makes_price),
                                         %(now)s, %(price_oldest_at)s, latest.usd, %(price_min_usd)s) AS searched
        -- A one-time filter: no call where nothing is searched for.
        WHERE EXISTS (SELECT
                        FROM newest_trade
                       WHERE NOT makes_price)
       ),
       market_price AS (
       SELECT token_id,
              price,
              quoted_at,
              liquidity_usd
         FROM market_prices
        WHERE %(quotes_until)s::timestamptz IS NULL
          AND market_prices.token_id = ANY (ARRAY(SELECT token_id
                                                    FROM wanted))
          AND market_prices.quoted_at >= %(price_oldest_at)s
        UNION ALL
       SELECT searched.token_id,
              searched.price,
              searched.quoted_at,
              searched.liquidity_usd
         FROM quotes_before(ARRAY(SELECT market_prices.token_id
                                    FROM wanted
                                    JOIN market_prices
                                      ON market_prices.token_id = wanted.token_id),
                            %(quotes_until)s, %(price_oldest_at)s) AS searched
        WHERE %(quotes_until)s::timestamptz IS NOT NULL
       ),
       token_price AS (
       SELECT token_id,
              CASE WHEN newer.is_market THEN market_price.price ELSE trade_price.price END AS price,
              CASE WHEN newer.is_market THEN market_price.quoted_at ELSE trade_price.price_at END AS price_at,
              CASE WHEN newer.is_market THEN 'market' ELSE 'trade' END AS price_source,
              CASE WHEN newer.is_market THEN market_price.liquidity_usd END AS liquidity_usd
         FROM trade_price
         FULL JOIN market_price
        USING (token_id)
        CROSS JOIN LATERAL (
              SELECT COALESCE(market_price.quoted_at > trade_price.price_at,
                              trade_price.price_at IS NULL) AS is_market) AS newer
       )
