-- For token_price.sql to include. It adds searched (token_id, price, price_at), the price of each token whose newest trade
-- does not make it. Needs trades_by_token, wallets_pkey.
       searched AS (
       SELECT newest_trade.token_id,
              small_quotient(COALESCE(trade.exchanged_value, trade.value), trade.token_amount) AS price,
              trade.created_at AS price_at
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
