-- For changes_page.sql to include: the first changes of a group after a key, of those that were read by the chunk.
         JOIN wallets
           ON wallets.wallet_id = subject_id
        WHERE wallets.blockchain = COALESCE(%(blockchain)s::text, wallets.blockchain)
          AND wallets.type = COALESCE(%(type)s::text, wallets.type)
          AND (nth > 1
               OR (kind, subject_id, token_id, tx_signature, is_sell, event_index)
                  > (%(kind)s::integer, %(subject_id)s::bigint, %(last_token_id)s::bigint, %(tx_signature)s::text,
                     %(is_sell)s::boolean, %(event_index)s::integer))
        ORDER BY nth, kind, subject_id, token_id, tx_signature, is_sell, event_index
        LIMIT %(limit)s::bigint + 1
