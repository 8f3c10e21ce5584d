-- What searched_price.sql adds, for Citus, which has no LIMIT for each token: all trades that may make a price are read.
-- Needs trades_by_token, wallets_pkey.
       /* search */
       searchable AS MATERIALIZED (
       SELECT newest_trade.token_id,
              latest.usd
         FROM newest_trade
        CROSS JOIN latest
        WHERE NOT newest_trade.makes_price
       ),
       fit AS MATERIALIZED (
       SELECT trades.*
         FROM searchable
         JOIN trades
           ON trades.token_id = searchable.token_id
        WHERE trades.created_at >= %(price_oldest_at)s
          AND trades.created_at <= %(now)s
          AND trades.value > 0
          AND COALESCE(trades.value_usd, trades.value * searchable.usd, %(price_min_usd)s) >= %(price_min_usd)s
       ),
       searched AS MATERIALIZED (
       SELECT DISTINCT ON (fit.token_id)
              fit.token_id,
              small_quotient(COALESCE(fit.exchanged_value, fit.value), fit.token_amount) AS price,
              fit.created_at AS price_at
         FROM fit
         JOIN wallets
           ON wallets.wallet_id = fit.wallet_id
        ORDER BY fit.token_id, fit.created_at DESC, fit.is_sell DESC, fit.tx_signature DESC, fit.event_index DESC,
                 wallets.address DESC
       )
       /* found */
