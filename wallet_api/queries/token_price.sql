-- For other statements to include, after their CTEs wanted (token_id) and latest (usd), the latest native price. It adds
-- token_price (token_id, price, price_at): value / token_amount of the trade that makes the price of each wanted token,
-- in native currency, unrounded; and the time of that trade. A token without a price has no row.
-- Of a token whose newest trade is ahead of the clock or too small, trades are searched back to price_oldest_at.
-- Needs token_prices_pkey, trades_by_token, wallets_pkey, pending_fills_pkey.
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
          AND NOT EXISTS (SELECT FROM pending_fills)
       ),
       token_price AS (
       SELECT token_id,
              price,
              created_at AS price_at
         FROM newest_trade
        WHERE makes_price
        UNION ALL
       SELECT newest_trade.token_id,
              small_quotient(trade.value, trade.token_amount),
              trade.created_at
         FROM latest
        CROSS JOIN newest_trade
        CROSS JOIN LATERAL (
              SELECT recent.*
                FROM (SELECT *
                        FROM trades
                       WHERE trades.token_id = newest_trade.token_id
                         AND trades.created_at >= %(price_oldest_at)s
                         AND trades.created_at <= %(now)s
                         AND trades.value > 0
                         AND COALESCE(trades.value_usd, trades.value * latest.usd, %(price_min_usd)s)
                             >= %(price_min_usd)s
                       ORDER BY trades.created_at DESC
                       FETCH FIRST 1 ROW WITH TIES) AS recent
                JOIN wallets
                  ON wallets.wallet_id = recent.wallet_id
               ORDER BY recent.is_sell DESC, recent.tx_signature DESC, recent.event_index DESC, wallets.address DESC
               LIMIT 1) AS trade
        WHERE NOT newest_trade.makes_price
       )
