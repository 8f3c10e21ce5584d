-- The trades of `incoming` that are new, differ from the ledger's, or learn their place.

-- analyze_incoming --
ANALYZE incoming (wallet_id, token_id);

-- fresh --
-- One look-up in the ledger for each row. A trade without a dollar value of its own takes the native price nearest its
-- time, if it is new or has another value or second. The place of a trade is the part of its second, its block and its
-- place in that: what a row lacks of it stays, and another place alone is no correction.
-- Needs trades_pkey, wallets_pkey, native_prices_pkey.
INSERT INTO fresh
  WITH known AS MATERIALIZED (
       SELECT incoming.*,
              CASE WHEN incoming.created_at = date_bin('1 second', trades.created_at, 'epoch') THEN trades.created_at
                   ELSE incoming.created_at
              END AS given_at,
              CASE WHEN keeps_name THEN trades.token_name
                   ELSE incoming.token_name
              END AS given_name,
              CASE WHEN keeps_usd AND NOT trades.usd_derived THEN trades.value_usd
                   ELSE incoming.value_usd
              END AS given_usd,
              CASE WHEN keeps_exchanged THEN trades.exchanged_value
                   ELSE incoming.exchanged_value
              END AS given_exchanged,
              COALESCE(incoming.block, trades.block) AS given_block,
              -- The place in another block says nothing of this one.
              CASE WHEN incoming.block <> trades.block THEN incoming.block_index
                   ELSE COALESCE(incoming.block_index, trades.block_index)
              END AS given_index,
              (trades.usd_derived OR trades.value_usd IS NULL)
              AND trades.value = incoming.value
              AND is_in_second AS keeps_derived,
              is_in_second
              AND trades.token_amount = incoming.token_amount
              AND trades.value = incoming.value
              AND (keeps_name OR trades.token_name IS NOT DISTINCT FROM incoming.token_name)
              AND (keeps_exchanged OR trades.exchanged_value IS NOT DISTINCT FROM incoming.exchanged_value)
                  AS is_same,
              trades.created_at AS known_at,
              trades.block AS known_block,
              trades.block_index AS known_index,
              trades.value_usd AS known_usd,
              trades.usd_derived AS known_derived,
              trades.arrival AS known_arrival,
              trades.first_arrival
         FROM incoming
         JOIN trades
        USING (wallet_id, token_id, tx_signature, is_sell, event_index)
        CROSS JOIN LATERAL (
              SELECT date_bin('1 second', trades.created_at, 'epoch')
                     = date_bin('1 second', incoming.created_at, 'epoch') AS is_in_second) AS compared
       ),
       given AS (
       SELECT known.*,
              (given_at, given_block, given_index) IS DISTINCT FROM (known_at, known_block, known_index) AS is_moved
         FROM known
        UNION ALL
       SELECT incoming.*,
              created_at,
              token_name,
              value_usd,
              exchanged_value,
              block,
              block_index,
              FALSE AS keeps_derived,
              FALSE AS is_same,
              NULL AS known_at,
              NULL AS known_block,
              NULL AS known_index,
              NULL AS known_usd,
              FALSE AS known_derived,
              NULL AS known_arrival,
              NULL AS first_arrival,
              FALSE AS is_moved
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
         FROM (SELECT given.wallet_id, given.token_id, event_index, is_sell, tx_signature, token_amount, value,
                      value_derived, given_name, given_usd, given_exchanged, given_block, given_index, keeps_derived,
                      is_same, is_moved, known_usd, known_derived, known_arrival, first_arrival,
                      given_at AS created_at,
                      native_currency(wallets.blockchain) AS currency,
                      given_usd IS NULL AND NOT keeps_derived AS wants_price
                 FROM given
                 JOIN wallets
                   ON wallets.wallet_id = given.wallet_id
                -- What repeats the ledger ends here.
                WHERE NOT is_same
                   OR is_moved
                   OR NOT CASE WHEN given_usd IS NULL THEN keeps_derived
                               ELSE given_usd IS NOT DISTINCT FROM known_usd AND NOT known_derived
                          END) AS trade
{nearest_price}
       ),
       compared AS (
       SELECT derived.*,
              COALESCE(given_usd, derived_usd) AS usd,
              NOT is_same
              OR known_derived <> (derived_usd IS NOT NULL)
              OR known_usd IS DISTINCT FROM COALESCE(given_usd, derived_usd) AS is_changed
         FROM derived
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
       usd AS value_usd,
       given_exchanged AS exchanged_value,
       CASE WHEN is_changed THEN COALESCE(first_arrival, known_arrival)
            ELSE first_arrival
       END AS first_arrival,
       value_derived,
       given_block AS block,
       given_index AS block_index,
       CASE WHEN is_changed THEN 0
            ELSE COALESCE(known_arrival, 0)
       END AS arrival
  FROM compared
 WHERE is_changed
    OR is_moved;
