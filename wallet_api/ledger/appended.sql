-- Walk the batch's trades of appended positions from the state of each. A trade without a dollar value of its
-- own takes the native price nearest its time. Needs wallets_pkey, native_prices_pkey.
INSERT INTO walked
  WITH pending AS (
       SELECT trade.wallet_id,
              trade.token_id,
              trade.created_at,
              trade.event_index,
              trade.is_sell,
              trade.tx_signature,
              trade.token_name,
              trade.token_amount,
              trade.value,
              trade.value_usd AS given_usd,
              trade.value * nearest_price.usd AS derived_usd,
              trade.exchanged_value,
              touched.start
         FROM (SELECT incoming.*,
                      native_currency(wallets.blockchain) AS currency,
                      incoming.value_usd IS NULL AS wants_price
                 FROM incoming
                 JOIN wallets
                   ON wallets.wallet_id = incoming.wallet_id) AS trade
         JOIN touched
           ON touched.wallet_id = trade.wallet_id
          AND touched.token_id = trade.token_id
          AND NOT touched.replay
{nearest_price}
       ),
       stepped AS (
       SELECT pending.*,
              lead(1) OVER trade_order IS NULL AS is_last,
              walk(start, is_sell, token_amount, value, COALESCE(given_usd, derived_usd),
                   extract(epoch FROM created_at), token_name) OVER trade_order AS state
         FROM pending
       WINDOW trade_order AS (PARTITION BY wallet_id, token_id
                                  ORDER BY created_at, is_sell, tx_signature, event_index
                                   ROWS UNBOUNDED PRECEDING)
       )
SELECT 1 AS sign,
       FALSE AS replay,
       is_last,
       wallet_id,
       token_id,
       created_at,
       event_index,
       is_sell,
       derived_usd IS NOT NULL AS usd_derived,
       tx_signature,
       token_name,
       token_amount,
       value,
       COALESCE(given_usd, derived_usd) AS value_usd,
       (state).realized,
       (state).realized_cost,
       (state).hold_seconds,
       (state).realized_usd,
       (state).quantity AS quantity_after,
       (state).peak AS peak_after,
       CASE WHEN is_last THEN state END AS state,
       exchanged_value
  FROM stepped
