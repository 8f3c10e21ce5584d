-- The trades of `incoming` that are new or differ from the ledger's.

-- analyze_incoming --
ANALYZE incoming (wallet_id, token_id);

-- fresh --
-- One look-up in the ledger for each row. A trade without a dollar value of its own takes the native price nearest its
-- time, if it is new or has another value or time. Needs trades_pkey, wallets_pkey, native_prices_pkey.
INSERT INTO fresh
  WITH known AS MATERIALIZED (
       SELECT incoming.*,
              CASE WHEN keeps_name THEN trades.token_name
                   ELSE incoming.token_name
              END AS given_name,
              CASE WHEN keeps_usd AND NOT trades.usd_derived THEN trades.value_usd
                   ELSE incoming.value_usd
              END AS given_usd,
              CASE WHEN keeps_exchanged THEN trades.exchanged_value
                   ELSE incoming.exchanged_value
              END AS given_exchanged,
              (trades.usd_derived OR trades.value_usd IS NULL)
              AND trades.value = incoming.value
              AND trades.created_at = incoming.created_at AS keeps_derived,
              trades.created_at = incoming.created_at
              AND trades.token_amount = incoming.token_amount
              AND trades.value = incoming.value
              AND (keeps_name OR trades.token_name IS NOT DISTINCT FROM incoming.token_name)
              AND (keeps_exchanged OR trades.exchanged_value IS NOT DISTINCT FROM incoming.exchanged_value)
                  AS is_same,
              trades.value_usd AS known_usd,
              trades.usd_derived AS known_derived,
              COALESCE(trades.first_arrival, trades.arrival) AS known_arrival
         FROM incoming
         JOIN trades
           ON trades.wallet_id = incoming.wallet_id
          AND trades.token_id = incoming.token_id
          AND trades.tx_signature = incoming.tx_signature
          AND trades.is_sell = incoming.is_sell
          AND trades.event_index = incoming.event_index
       ),
       given AS (
       SELECT known.*,
              known_arrival AS first_arrival
         FROM known
        -- What repeats the ledger ends here.
        WHERE NOT is_same
           OR NOT CASE WHEN given_usd IS NULL THEN keeps_derived
                       ELSE given_usd IS NOT DISTINCT FROM known_usd AND NOT known_derived
                  END
        UNION ALL
       SELECT incoming.*,
              token_name,
              value_usd,
              exchanged_value,
              FALSE AS keeps_derived,
              FALSE AS is_same,
              NULL AS known_usd,
              FALSE AS known_derived,
              NULL AS known_arrival,
              NULL AS first_arrival
         FROM incoming
        -- NOT IN is one look-up in a hash table for each row, whatever the planner takes `known` for.
        WHERE (wallet_id, token_id, tx_signature, is_sell, event_index) NOT IN (
              SELECT wallet_id, token_id, tx_signature, is_sell, event_index
                FROM known)
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
       first_arrival,
       value_derived
  FROM derived
 WHERE NOT is_same
    OR known_derived <> (derived_usd IS NOT NULL)
    OR known_usd IS DISTINCT FROM COALESCE(given_usd, derived_usd);
