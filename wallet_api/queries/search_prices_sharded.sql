-- What search_prices.sql returns, for Citus, which has no LIMIT for each token: all trades that may make a price are read.
-- Needs native_prices_pkey, trades_by_token, wallets_pkey.
  WITH
{latest_price},
       wanted AS MATERIALIZED (
       SELECT token_id
         FROM unnest(%(token_ids)s::bigint[]) AS wanted (token_id)
       ),
       fit AS MATERIALIZED (
       SELECT trades.*
         FROM wanted
        CROSS JOIN latest
         JOIN trades
           ON trades.token_id = wanted.token_id
        WHERE trades.created_at >= %(price_oldest_at)s
          AND trades.created_at <= %(now)s
          AND trades.value > 0
          AND COALESCE(trades.value_usd, trades.value * latest.usd, %(price_min_usd)s) >= %(price_min_usd)s
       )
SELECT DISTINCT ON (fit.token_id)
       fit.token_id,
       small_quotient(COALESCE(fit.exchanged_value, fit.value), fit.token_amount) AS price,
       fit.created_at AS price_at
  FROM fit
  JOIN wallets
    ON wallets.wallet_id = fit.wallet_id
 ORDER BY fit.token_id, fit.created_at DESC, fit.is_sell DESC, fit.tx_signature DESC, fit.event_index DESC,
          wallets.address DESC
