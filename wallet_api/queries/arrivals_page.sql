-- The changes of some chunks, in the order of the chunks: of the trades of a group or of all, in one token or in all.
-- In the chunk `key_chunk` those after a key, which is that of the last one of the page before.
-- A change is a trade as it is now (kind 0), one that was removed (1), or one of many trades at once (2).
-- Needs trades_by_arrival, removals_by_arrival, ledger_events_by_arrival, ledger_events_pkey, tokens_pkey,
-- native_prices_pkey, and what feed_joins.sql needs.
  WITH
{latest_price},
       -- A CTE of its own, so that the trades of the chunks are read first, and not all wallets of the group.
       read_trade AS MATERIALIZED (
       SELECT arrival,
              0 AS kind,
              wallet_id,
              token_id,
              tx_signature,
              is_sell,
              event_index,
              CASE WHEN is_correction THEN 'correction' ELSE 'trade' END AS event,
              created_at,
              token_name,
              token_amount,
              value,
              value_usd,
              quantity_after,
              peak_after
         FROM trades
        WHERE arrival = ANY (%(chunks)s::bigint[])
          AND (%(token_id)s::bigint IS NULL OR token_id = %(token_id)s::bigint)
          AND (%(wallet_ids)s::bigint[] IS NULL OR wallet_id = ANY (%(wallet_ids)s::bigint[]))
          AND (%(wants_sells)s::boolean IS NULL OR is_sell = %(wants_sells)s::boolean)
          AND (%(min_value)s::numeric IS NULL OR round_half_up(value, 9) >= %(min_value)s::numeric)
       ),
       trade AS (
       SELECT read_trade.*
         FROM read_trade
         JOIN wallets
           ON wallets.wallet_id = read_trade.wallet_id
        WHERE wallets.blockchain = %(blockchain)s
          AND wallets.type = COALESCE(%(type)s::text, wallets.type)
       ),
       read_removal AS MATERIALIZED (
       SELECT arrival,
              1 AS kind,
              wallet_id,
              token_id,
              tx_signature,
              is_sell,
              event_index,
              'removal' AS event,
              created_at
         FROM removals
        WHERE arrival = ANY (%(chunks)s::bigint[])
          AND (%(token_id)s::bigint IS NULL OR token_id = %(token_id)s::bigint)
          AND (%(wallet_ids)s::bigint[] IS NULL OR wallet_id = ANY (%(wallet_ids)s::bigint[]))
          AND (%(wants_sells)s::boolean IS NULL OR is_sell = %(wants_sells)s::boolean)
       ),
       removal AS (
       SELECT read_removal.*
         FROM read_removal
         JOIN wallets
           ON wallets.wallet_id = read_removal.wallet_id
        WHERE wallets.blockchain = %(blockchain)s
          AND wallets.type = COALESCE(%(type)s::text, wallets.type)
       ),
       -- A wallet that left its group is none that left the ledger: feeds of all groups have its trades.
       ledger_event AS (
       SELECT arrival,
              2 AS kind,
              event_id AS wallet_id,
              0::bigint AS token_id,
              '' AS tx_signature,
              FALSE AS is_sell,
              0 AS event_index,
              event
         FROM ledger_events
        WHERE arrival = ANY (%(chunks)s::bigint[])
          AND COALESCE(blockchain, %(blockchain)s) = %(blockchain)s
          AND (event = 'purge'
               OR CASE WHEN %(type)s::text IS NULL THEN NOT is_retyped
                       ELSE type = %(type)s::text
                  END)
          AND (address IS NULL OR %(addresses)s::text[] IS NULL OR address = ANY (%(addresses)s::text[]))
          AND (mint IS NULL OR %(mint)s::text IS NULL OR mint = %(mint)s::text)
       ),
       changed AS (
       SELECT *
         FROM trade
        CROSS JOIN latest
        WHERE %(min_value_usd)s::numeric IS NULL
           OR round_half_up(COALESCE(value_usd, value * usd), 4) >= %(min_value_usd)s::numeric
        UNION ALL
       SELECT *, NULL, NULL, NULL, NULL, NULL, NULL, NULL
         FROM removal
        UNION ALL
       SELECT *, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
         FROM ledger_event
       ),
       ahead AS (
       SELECT changed.*,
              array_position(%(chunks)s::bigint[], arrival) AS nth
         FROM changed
        WHERE arrival <> %(key_chunk)s::bigint
           OR (kind, wallet_id, token_id, tx_signature, is_sell, event_index)
              > (%(kind)s::integer, %(wallet_id)s::bigint, %(last_token_id)s::bigint, %(tx_signature)s::text,
                 %(is_sell)s::boolean, %(event_index)s::integer)
        ORDER BY nth, kind, wallet_id, token_id, tx_signature, is_sell, event_index
        LIMIT %(limit)s::bigint + 1
       ),
       candidate AS MATERIALIZED (
       SELECT ahead.*,
              iso_time((%(times)s::timestamptz[])[nth]) AS arrived_at,
              (SELECT tokens.mint
                 FROM tokens
                WHERE tokens.token_id = ahead.token_id) AS mint,
              row_number() OVER (ORDER BY nth, kind, wallet_id, token_id, tx_signature, is_sell, event_index) AS place
         FROM ahead
       ),
       -- As text, since row_to_json takes twice as long.
       page AS (
       SELECT candidate.place,
              candidate.arrived_at,
              '{"event":"' || candidate.event || '",' ||
{feed_entry}
              ||
{feed_token}
              AS change
{feed_joins}
        WHERE candidate.kind = 0
        UNION ALL
       SELECT candidate.place,
              candidate.arrived_at,
              '{"event":"removal","tx_signature":' || to_json(candidate.tx_signature)
              || ',"event_index":' || candidate.event_index
              || ',"transaction_type":' || CASE WHEN candidate.is_sell THEN '"sell"' ELSE '"buy"' END
              || ',"mint":' || to_json(candidate.mint)
              || ',"created_at":"' || iso_time(candidate.created_at)
              || '","profile":' ||
{profile}
         FROM candidate
         JOIN wallets
           ON wallets.wallet_id = candidate.wallet_id
        WHERE candidate.kind = 1
        UNION ALL
       SELECT candidate.place,
              candidate.arrived_at,
              CASE WHEN candidate.event = 'wallet_removal'
                   THEN '{"event":"wallet_removal","profile":' ||
{profile}
                   ELSE '{"event":"' || candidate.event || '"'
                        || COALESCE(',"mint":' || to_json(ledger_events.mint), '')
                        || COALESCE(',"before":"' || iso_time(removed_before) || '"', '')
              END
         FROM candidate
         JOIN ledger_events
           ON ledger_events.event_id = candidate.wallet_id
        WHERE candidate.kind = 2
       ),
       shown AS (
       SELECT count(*) AS row_count,
              string_agg(change || ',"arrived_at":"' || arrived_at || '"}', ',' ORDER BY place) AS changes
         FROM page
        WHERE place <= %(limit)s::bigint
       )
SELECT shown.row_count,
       shown.changes,
       (SELECT count(*)
          FROM candidate) > %(limit)s::bigint AS is_cut,
       last.arrival,
       last.kind,
       last.wallet_id,
       last.token_id,
       last.tx_signature,
       last.is_sell,
       last.event_index
  FROM shown
  LEFT JOIN candidate AS last
    ON last.place = %(limit)s::bigint
