-- Walk the batch's trades of appended positions from the state of each. A trade without a dollar value of its
-- own takes the native price nearest its time, as nearest_price() would. Needs wallets_pkey, native_prices_pkey.
INSERT INTO walked
  WITH pending AS (
       SELECT incoming.wallet_id,
              incoming.token_id,
              incoming.created_at,
              incoming.event_index,
              incoming.is_sell,
              incoming.tx_signature,
              incoming.token_name,
              incoming.token_amount,
              incoming.value,
              incoming.value_usd AS given_usd,
              incoming.value
                  * CASE WHEN later.priced_at - incoming.created_at < incoming.created_at - earlier.priced_at
                         THEN later.usd
                         ELSE COALESCE(earlier.usd, later.usd)
                    END AS derived_usd,
              touched.start
         FROM incoming
         JOIN touched
           ON touched.wallet_id = incoming.wallet_id
          AND touched.token_id = incoming.token_id
          AND NOT touched.replay
         JOIN wallets
           ON wallets.wallet_id = incoming.wallet_id
         LEFT JOIN LATERAL (
              SELECT price.priced_at,
                     price.usd
                FROM native_prices AS price
               WHERE incoming.value_usd IS NULL
                 AND price.currency = native_currency(wallets.blockchain)
                 AND price.priced_at BETWEEN incoming.created_at - interval '1 hour' AND incoming.created_at
               ORDER BY price.priced_at DESC
               LIMIT 1) AS earlier
           ON TRUE
         LEFT JOIN LATERAL (
              SELECT price.priced_at,
                     price.usd
                FROM native_prices AS price
               WHERE incoming.value_usd IS NULL
                 AND price.currency = native_currency(wallets.blockchain)
                 AND price.priced_at > incoming.created_at
                 AND price.priced_at <= incoming.created_at + interval '1 hour'
               ORDER BY price.priced_at
               LIMIT 1) AS later
           ON TRUE
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
       CASE WHEN is_last THEN state END AS state
  FROM stepped
