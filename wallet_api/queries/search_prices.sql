-- The prices of tokens whose newest trades make none, by the newest trades that do; no row for a token without one.
-- Needs native_prices_pkey, trades_by_token, wallets_pkey.
  WITH
{latest_price}
SELECT wanted.token_id,
       small_quotient(COALESCE(trade.exchanged_value, trade.value), trade.token_amount) AS price,
       trade.created_at AS price_at
  FROM unnest(%(token_ids)s::bigint[]) AS wanted (token_id)
 CROSS JOIN latest
 CROSS JOIN LATERAL (
       SELECT recent.*
         FROM (SELECT *
                 FROM trades
                WHERE trades.token_id = wanted.token_id
                  AND trades.created_at >= %(price_oldest_at)s
                  AND trades.created_at <= %(now)s
                  AND trades.value > 0
                  AND COALESCE(trades.value_usd, trades.value * latest.usd, %(price_min_usd)s) >= %(price_min_usd)s
                ORDER BY trades.created_at DESC
                FETCH FIRST 1 ROW WITH TIES) AS recent
         JOIN wallets
           ON wallets.wallet_id = recent.wallet_id
        ORDER BY recent.is_sell DESC, recent.tx_signature DESC, recent.event_index DESC, wallets.address DESC
        LIMIT 1) AS trade
