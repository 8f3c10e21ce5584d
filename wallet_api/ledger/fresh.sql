-- The trades of `incoming` that are new or differ from the ledger's.

-- known --
-- One look-up for each row. Needs trades_pkey.
INSERT INTO known
SELECT trades.*
  FROM incoming
  JOIN trades
    ON trades.wallet_id = incoming.wallet_id
   AND trades.token_id = incoming.token_id
   AND trades.tx_signature = incoming.tx_signature
   AND trades.is_sell = incoming.is_sell
   AND trades.event_index = incoming.event_index;

-- analyze_known --
ANALYZE known (wallet_id, token_id, tx_signature);

-- fresh --
-- A trade without a dollar value of its own takes the native price nearest its time, if it is new or has another value
-- or time. Needs wallets_pkey, native_prices_pkey.
INSERT INTO fresh
  WITH given AS (
       SELECT incoming.*,
              CASE WHEN incoming.keeps_name THEN known.token_name
                   ELSE incoming.token_name
              END AS given_name,
              CASE WHEN incoming.keeps_usd AND NOT known.usd_derived THEN known.value_usd
                   ELSE incoming.value_usd
              END AS given_usd,
              CASE WHEN incoming.keeps_exchanged THEN known.exchanged_value
                   ELSE incoming.exchanged_value
              END AS given_exchanged,
              COALESCE((known.usd_derived OR known.value_usd IS NULL)
                       AND known.value = incoming.value
                       AND known.created_at = incoming.created_at
                       AND NOT incoming.derives_again, FALSE) AS keeps_derived,
              known.wallet_id IS NOT NULL AS is_correction,
              known.created_at AS known_at,
              known.token_name AS known_name,
              known.token_amount AS known_amount,
              known.value AS known_value,
              known.value_usd AS known_usd,
              known.usd_derived AS known_derived,
              known.exchanged_value AS known_exchanged
         FROM incoming
         LEFT JOIN known
           ON known.wallet_id = incoming.wallet_id
          AND known.token_id = incoming.token_id
          AND known.tx_signature = incoming.tx_signature
          AND known.is_sell = incoming.is_sell
          AND known.event_index = incoming.event_index
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
       given_exchanged AS exchanged_value,
       is_correction
  FROM derived
 WHERE NOT is_correction
    OR known_at <> created_at
    OR known_amount <> token_amount
    OR known_value <> value
    OR known_name IS DISTINCT FROM given_name
    OR known_derived <> (derived_usd IS NOT NULL)
    OR known_usd IS DISTINCT FROM COALESCE(given_usd, derived_usd)
    OR known_exchanged IS DISTINCT FROM given_exchanged
