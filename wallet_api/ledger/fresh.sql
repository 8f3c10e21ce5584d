-- Of the batch's trades in positions to be replayed, those that are new or differ from the ledger's. A trade
-- without a dollar value of its own takes the native price nearest its time, if it is new or has another value
-- or time. Needs trades_pkey, native_prices_pkey.
INSERT INTO fresh
SELECT incoming.wallet_id,
       incoming.token_id,
       incoming.created_at,
       incoming.event_index,
       incoming.is_sell,
       derived.value_usd IS NOT NULL AS usd_derived,
       incoming.tx_signature,
       given.token_name,
       incoming.token_amount,
       incoming.value,
       COALESCE(given.value_usd, derived.value_usd) AS value_usd
  FROM incoming
  JOIN touched
    ON touched.wallet_id = incoming.wallet_id
   AND touched.token_id = incoming.token_id
   AND touched.replay
  LEFT JOIN trades AS known
    ON known.wallet_id = incoming.wallet_id
   AND known.token_id = incoming.token_id
   AND known.tx_signature = incoming.tx_signature
   AND known.is_sell = incoming.is_sell
   AND known.event_index = incoming.event_index
 CROSS JOIN LATERAL (
       SELECT CASE WHEN incoming.keeps_name THEN known.token_name
                   ELSE incoming.token_name
              END AS token_name,
              CASE WHEN incoming.keeps_usd AND NOT known.usd_derived THEN known.value_usd
                   ELSE incoming.value_usd
              END AS value_usd
       ) AS given
 CROSS JOIN LATERAL (
       SELECT CASE WHEN given.value_usd IS NOT NULL THEN NULL
                   WHEN (known.usd_derived OR known.value_usd IS NULL)
                    AND known.value = incoming.value
                    AND known.created_at = incoming.created_at
                    AND NOT incoming.derives_again THEN known.value_usd
                   ELSE (SELECT incoming.value * price.usd
                           FROM wallets
                          CROSS JOIN LATERAL nearest_price(wallets.blockchain, incoming.created_at)
                                     AS price (usd)
                          WHERE wallets.wallet_id = incoming.wallet_id)
              END AS value_usd
        -- A fence, without which the price is looked up wherever derived is used.
        OFFSET 0
       ) AS derived
 WHERE known.wallet_id IS NULL
    OR known.created_at <> incoming.created_at
    OR known.token_amount <> incoming.token_amount
    OR known.value <> incoming.value
    OR known.token_name IS DISTINCT FROM given.token_name
    OR known.usd_derived <> (derived.value_usd IS NOT NULL)
    OR known.value_usd IS DISTINCT FROM COALESCE(given.value_usd, derived.value_usd)
