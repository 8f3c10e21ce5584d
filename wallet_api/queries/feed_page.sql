-- For feeds to end with, after their CTEs traded, which has at least the trades of a page and one more, with the address and
-- the mint of each; and matching (txn), whose sum is the number of all trades.
-- Needs positions_pkey, wallets_pkey, token_faces_pkey, native_prices_pkey.
       candidate AS (
       SELECT traded.wallet_id,
              traded.token_id,
              traded.tx_signature,
              traded.event_index,
              traded.is_sell,
              traded.created_at,
              traded.token_name,
              traded.token_amount,
              traded.value,
              traded.value_usd,
              traded.quantity_after,
              traded.peak_after,
              traded.address AS wallet_address,
              traded.mint
         FROM traded
        ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC, address DESC
        LIMIT %(limit)s::bigint + 1
       ),
{latest_price},
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
        ORDER BY candidate.created_at DESC, candidate.is_sell DESC, candidate.tx_signature DESC,
                 candidate.event_index DESC, candidate.mint DESC, candidate.wallet_address DESC
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
       last AS (
       SELECT created_at,
              is_sell,
              tx_signature,
              event_index,
              mint,
              wallet_address AS address
         FROM candidate
        ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, mint DESC, wallet_address DESC
        LIMIT 1 OFFSET %(limit)s::bigint - 1
       ),
       total AS (
       SELECT COALESCE(sum(txn), 0)::bigint AS total
         FROM matching
       )
SELECT total.total,
       shown.row_count,
       shown.transactions,
       (SELECT count(*) > %(limit)s::bigint
          FROM candidate) AS has_more,
       last.created_at,
       last.is_sell,
       last.tx_signature,
       last.event_index,
       last.mint,
       last.address
  FROM total
 CROSS JOIN shown
  LEFT JOIN last
    ON true
