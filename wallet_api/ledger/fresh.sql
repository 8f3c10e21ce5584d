-- Of the batch's trades in positions to be replayed, those that are new or differ from the ledger's. A trade
-- without a dollar value of its own takes the native price nearest its time, if it is new or has another value or
-- time. Needs wallets_pkey, native_prices_pkey.
INSERT INTO fresh
  WITH repeated AS MATERIALIZED (
       SELECT incoming.*
         FROM incoming
         JOIN touched
           ON touched.wallet_id = incoming.wallet_id
          AND touched.token_id = incoming.token_id
          AND touched.replay
       ),
{known_repeats},
       given AS (
       SELECT repeated.*,
              CASE WHEN repeated.keeps_name THEN known.token_name
                   ELSE repeated.token_name
              END AS given_name,
              CASE WHEN repeated.keeps_usd AND NOT known.usd_derived THEN known.value_usd
                   ELSE repeated.value_usd
              END AS given_usd,
              CASE WHEN repeated.keeps_exchanged THEN known.exchanged_value
                   ELSE repeated.exchanged_value
              END AS given_exchanged,
              COALESCE((known.usd_derived OR known.value_usd IS NULL)
                       AND known.value = repeated.value
                       AND known.created_at = repeated.created_at
                       AND NOT repeated.derives_again, FALSE) AS keeps_derived,
              known.wallet_id IS NULL AS is_new,
              known.created_at AS known_at,
              known.token_name AS known_name,
              known.token_amount AS known_amount,
              known.value AS known_value,
              known.value_usd AS known_usd,
              known.usd_derived AS known_derived,
              known.exchanged_value AS known_exchanged
         FROM repeated
         LEFT JOIN known
           ON known.wallet_id = repeated.wallet_id
          AND known.token_id = repeated.token_id
          AND known.tx_signature = repeated.tx_signature
          AND known.is_sell = repeated.is_sell
          AND known.event_index = repeated.event_index
       ),
       derived AS (
       SELECT trade.*,
              CASE WHEN trade.given_usd IS NOT NULL THEN NULL
                   WHEN trade.keeps_derived THEN trade.known_usd
                   ELSE trade.value * nearest_price.usd
              END AS derived_usd
         FROM (SELECT given.*,
                      native_currency(wallets.blockchain) AS currency,
                      given.given_usd IS NULL AND NOT given.keeps_derived AS wants_price
                 FROM given
                 JOIN wallets
                   ON wallets.wallet_id = given.wallet_id) AS trade
{nearest_price}
       )
SELECT wallet_id,
       token_id,
       created_at,
       event_index,
       is_sell,
       derived_usd IS NOT NULL AS usd_derived,
       tx_signature,
       given_name AS token_name,
       token_amount,
       value,
       COALESCE(given_usd, derived_usd) AS value_usd,
       given_exchanged AS exchanged_value
  FROM derived
 WHERE is_new
    OR known_at <> created_at
    OR known_amount <> token_amount
    OR known_value <> value
    OR known_name IS DISTINCT FROM given_name
    OR known_derived <> (derived_usd IS NOT NULL)
    OR known_usd IS DISTINCT FROM COALESCE(given_usd, derived_usd)
    OR known_exchanged IS DISTINCT FROM given_exchanged
