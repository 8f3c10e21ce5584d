-- For feeds to include after feed_entry.sql: the token of the trade.
              ',"mint":' || to_json(candidate.mint)
              || ',"symbol":' || COALESCE(to_json(face.symbol)::text, 'null')
              || ',"token_name":'
              || to_json(COALESCE(candidate.token_name, positions.token_name, face.face_name, ''))
              || ',"token_supply":' || COALESCE(round_half_up(face.supply, 18)::text, 'null')
              || ',"token_decimals":' || COALESCE(face.decimals::text, 'null')
