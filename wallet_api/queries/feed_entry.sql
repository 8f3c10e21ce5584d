-- For feeds to include: a trade of their CTE candidate as the text of a JSON object, without its braces and its token, read
-- from the joins of feed_joins.sql.
              '"tx_signature":' || to_json(candidate.tx_signature)
              || ',"event_index":' || candidate.event_index
              || CASE WHEN candidate.is_sell THEN ',"transaction_type":"sell","value":'
                      ELSE ',"transaction_type":"buy","value":'
                 END
              || round_half_up(candidate.value, 9)
              -- A trade without a dollar value counts with the latest native price.
              || ',"value_usd":'
              || COALESCE(round_half_up(COALESCE(candidate.value_usd, candidate.value * latest.usd), 4)::text, 'null')
              || ',"currency":"' || latest.currency
              || '","token_amount":' || round_half_up(candidate.token_amount, 18)
              || ',"price_per_token":' || round_half_up(quotient(candidate.value, candidate.token_amount), 18)
              || ',"price_per_token_usd":'
              || COALESCE(round_half_up(quotient(COALESCE(candidate.value_usd, candidate.value * latest.usd),
                                                 candidate.token_amount), 18)::text, 'null')
              || ',"created_at":"' || iso_time(candidate.created_at)
              || '","profile":' ||
{profile}
              || ',"holdings_after":{"token_amount":' || round_half_up(candidate.quantity_after, 18)
              || ',"token_amount_peak":' || round_half_up(candidate.peak_after, 18)
              || ',"bag_pct":' || percentage(candidate.quantity_after, candidate.peak_after)
              || ',"still_holding":' || still_held(candidate.quantity_after, candidate.peak_after)
              || ',"supply_pct":' || COALESCE(percentage(candidate.quantity_after, NULLIF(face.supply, 0))::text, 'null')
              || ',"supply_pct_peak":' || COALESCE(percentage(candidate.peak_after, NULLIF(face.supply, 0))::text, 'null')
              || '}'
