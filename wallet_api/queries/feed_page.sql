-- For feeds to end with, after their CTEs traded, which has at least the newest `scan` trades from the cursor on and one
-- more, with the address and the mint of each; and matching (txn), whose sum is the number of all trades.
-- Filters choose among the `scan` trades that are read. Without filters `scan` is `limit`. A page that is not full ends with
-- the last trade that was read, so that the next one continues there.
-- Needs positions_pkey, wallets_pkey, token_faces_pkey, native_prices_pkey.
{latest_price},
       scanned AS (
       SELECT traded.*,
              row_number() OVER (ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC,
                                          address DESC) AS place
         FROM traded
        ORDER BY place
        LIMIT %(scan)s::bigint + 1
       ),
       candidate AS MATERIALIZED (
       SELECT place,
              wallet_id,
              token_id,
              tx_signature,
              event_index,
              is_sell,
              created_at,
              token_name,
              token_amount,
              value,
              value_usd,
              quantity_after,
              peak_after,
              mint
         FROM scanned
        CROSS JOIN latest
        WHERE place <= %(scan)s::bigint
          AND (%(wants_sells)s::boolean IS NULL OR is_sell = %(wants_sells)s::boolean)
          AND (%(min_value)s::numeric IS NULL OR round_half_up(value, 9) >= %(min_value)s::numeric)
          AND (%(min_value_usd)s::numeric IS NULL
               OR round_half_up(COALESCE(value_usd, value * latest.usd), 4) >= %(min_value_usd)s::numeric)
        ORDER BY place
        LIMIT %(limit)s::bigint + 1
       ),
       page AS (
       SELECT candidate.tx_signature,
              candidate.event_index,
              CASE WHEN candidate.is_sell THEN 'sell' ELSE 'buy' END AS transaction_type,
              round_half_up(candidate.value, 9) AS value,
              -- A trade without a dollar value counts with the latest native price.
              round_half_up(COALESCE(candidate.value_usd, candidate.value * latest.usd), 4) AS value_usd,
              %(currency)s::text AS currency,
              round_half_up(candidate.token_amount, 18) AS token_amount,
              round_half_up(quotient(candidate.value, candidate.token_amount), 18) AS price_per_token,
              round_half_up(quotient(COALESCE(candidate.value_usd, candidate.value * latest.usd),
                                     candidate.token_amount), 18) AS price_per_token_usd,
              iso_time(candidate.created_at) AS created_at,
{profile},
              (SELECT row_to_json(holding)
                 FROM (SELECT round_half_up(candidate.quantity_after, 18) AS token_amount,
                              round_half_up(candidate.peak_after, 18) AS token_amount_peak,
                              percentage(candidate.quantity_after, candidate.peak_after) AS bag_pct,
                              still_held(candidate.quantity_after, candidate.peak_after) AS still_holding,
                              percentage(candidate.quantity_after, NULLIF(face.supply, 0)) AS supply_pct,
                              percentage(candidate.peak_after, NULLIF(face.supply, 0)) AS supply_pct_peak
                      ) AS holding) AS holdings_after,
              candidate.mint,
              face.symbol,
              COALESCE(candidate.token_name, positions.token_name, face.face_name, '') AS token_name,
              round_half_up(face.supply, 18) AS token_supply,
              face.decimals AS token_decimals
         FROM candidate
         JOIN wallets
           ON wallets.wallet_id = candidate.wallet_id
        CROSS JOIN latest
         LEFT JOIN positions
           ON positions.wallet_id = candidate.wallet_id
          AND positions.token_id = candidate.token_id
         LEFT JOIN (SELECT token_id AS face_id,
                           symbol,
                           name AS face_name,
                           decimals,
                           supply
                      FROM token_faces) AS face
           ON face.face_id = candidate.token_id
        ORDER BY candidate.place
        LIMIT %(limit)s::bigint
       ),
       shown AS (
       SELECT count(*) AS row_count,
              -- A feed of one token has the token once, not in each row.
              COALESCE(json_agg(CASE WHEN %(with_token)s::boolean THEN row_to_json(page)
                                     ELSE (SELECT row_to_json(brief)
                                             FROM (SELECT page.tx_signature, page.event_index, page.transaction_type,
                                                          page.value, page.value_usd, page.currency,
                                                          page.token_amount, page.price_per_token,
                                                          page.price_per_token_usd, page.created_at, page.profile,
                                                          page.holdings_after) AS brief)
                                END), '[]')::text AS transactions
         FROM page
       ),
       -- Where the page ends: with its last trade if there are more, else with the last one that was read.
       ending AS (
       SELECT COALESCE((SELECT place
                          FROM candidate
                         ORDER BY place
                         LIMIT 1 OFFSET %(limit)s::bigint - 1), %(scan)s::bigint) AS place,
              (SELECT count(*)
                 FROM candidate) > %(limit)s::bigint
              OR (SELECT count(*)
                    FROM scanned) > %(scan)s::bigint AS has_more
       ),
       total AS (
       SELECT COALESCE(sum(txn), 0)::bigint AS total
         FROM matching
       )
SELECT total.total,
       shown.row_count,
       shown.transactions,
       ending.has_more,
       last.created_at,
       last.is_sell,
       last.tx_signature,
       last.event_index,
       last.mint,
       last.address
  FROM total
 CROSS JOIN shown
 CROSS JOIN ending
  LEFT JOIN scanned AS last
    ON last.place = ending.place
