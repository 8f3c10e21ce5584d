-- For feeds to include, as the columns of a trade of their CTE candidate, with the joins of feed_joins.sql.
              candidate.tx_signature,
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
