-- For other statements to include, after their CTEs wanted (token_id) and latest (usd), the latest native price. It adds
-- token_price (token_id, price, price_at): exchanged_value (without one, value) / token_amount of the trade that makes
-- the price of each wanted token, in native currency, unrounded; and the time of that trade. A token without a price has no row.
-- token_prices has the newest trade of each token. If that is ahead of the clock or too small, an earlier one is searched for.
-- Needs token_prices_pkey, and what prices_before needs.
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
       token_price AS (
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
       )
