-- What the batch changes: of rows with one identity the last, unless the ledger already says the same.
-- Without a dollar value of its own a trade takes the native price nearest its time within an hour.
-- Needs trades_pkey, native_prices_pkey.
INSERT INTO fresh
  WITH latest AS (
       SELECT DISTINCT ON (incoming.wallet_id, tokens.token_id, incoming.tx_signature,
                           incoming.is_sell, incoming.event_index)
              incoming.*,
              tokens.token_id
         FROM incoming
         JOIN tokens
           ON tokens.blockchain = incoming.blockchain
          AND tokens.mint = incoming.mint
        ORDER BY incoming.wallet_id, tokens.token_id, incoming.tx_signature,
                 incoming.is_sell, incoming.event_index, incoming.line_number DESC
       )
SELECT latest.wallet_id,
       latest.token_id,
       latest.created_at,
       latest.event_index,
       latest.is_sell,
       latest.value_usd IS NULL AND price.usd IS NOT NULL AS usd_derived,
       latest.tx_signature,
       latest.token_name,
       latest.token_amount,
       latest.value,
       COALESCE(latest.value_usd, latest.value * price.usd) AS value_usd,
       known.wallet_id IS NOT NULL AS corrects
  FROM latest
  LEFT JOIN trades AS known
    ON known.wallet_id = latest.wallet_id
   AND known.token_id = latest.token_id
   AND known.tx_signature = latest.tx_signature
   AND known.is_sell = latest.is_sell
   AND known.event_index = latest.event_index
  LEFT JOIN LATERAL nearest_price(latest.blockchain, latest.created_at) AS price (usd)
    ON latest.value_usd IS NULL
 WHERE known.wallet_id IS NULL
    OR known.created_at <> latest.created_at
    OR known.token_amount <> latest.token_amount
    OR known.value <> latest.value
    OR known.token_name IS DISTINCT FROM latest.token_name
    OR CASE WHEN latest.value_usd IS NULL THEN known.value_usd IS NOT NULL AND NOT known.usd_derived
            ELSE known.usd_derived OR known.value_usd IS DISTINCT FROM latest.value_usd
       END
