-- Of the trades for positions to be walked again, those that the ledger does not have just so already.
-- Without a dollar value of its own a trade takes the native price nearest its time.
-- Needs trades_pkey, native_prices_pkey.
INSERT INTO fresh
SELECT incoming.wallet_id,
       incoming.token_id,
       incoming.created_at,
       incoming.event_index,
       incoming.is_sell,
       derived.value_usd IS NOT NULL AS usd_derived,
       incoming.tx_signature,
       incoming.token_name,
       incoming.token_amount,
       incoming.value,
       COALESCE(incoming.value_usd, derived.value_usd) AS value_usd
  FROM incoming
  JOIN touched
    ON touched.wallet_id = incoming.wallet_id
   AND touched.token_id = incoming.token_id
   AND touched.rewalk
  LEFT JOIN trades AS known
    ON known.wallet_id = incoming.wallet_id
   AND known.token_id = incoming.token_id
   AND known.tx_signature = incoming.tx_signature
   AND known.is_sell = incoming.is_sell
   AND known.event_index = incoming.event_index
 CROSS JOIN LATERAL (
       SELECT CASE WHEN incoming.value_usd IS NULL
                   THEN (SELECT incoming.value * price.usd
                           FROM wallets
                          CROSS JOIN LATERAL nearest_price(wallets.blockchain, incoming.created_at)
                                     AS price (usd)
                          WHERE wallets.wallet_id = incoming.wallet_id)
              END AS value_usd
       ) AS derived
 WHERE known.wallet_id IS NULL
    OR known.created_at <> incoming.created_at
    OR known.token_amount <> incoming.token_amount
    OR known.value <> incoming.value
    OR known.token_name IS DISTINCT FROM incoming.token_name
    OR CASE WHEN incoming.value_usd IS NULL THEN known.value_usd IS NOT NULL AND NOT known.usd_derived
            ELSE known.usd_derived OR known.value_usd IS DISTINCT FROM incoming.value_usd
       END
