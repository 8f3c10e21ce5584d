-- A page of the changes after a place, in the order of arrival: of the trades of a group or of all, in one token or in all.
-- A place is a batch, the next of its chunks, and the last change that was read in that one.
-- A change is a trade as it is now (kind 0), one that was removed (1), or an event of the ledger, of many trades at once (2).
-- In a chunk they are by kind and subject_id, which is the wallet of a trade or removal and the event of an event; then by
-- the rest of the trade's key, which an event has not.
-- Needs arrivals_batch_id_key, arrivals_place_key, trades_by_arrival, removals_by_arrival,
-- ledger_events_by_arrival, ledger_events_pkey, tokens_pkey, native_prices_pkey, and what feed_joins.sql needs.
  WITH latest AS MATERIALIZED (
       SELECT coin.currency,
              (SELECT usd
                 FROM native_prices
                WHERE currency = coin.currency
                  AND priced_at <= %(now)s
                ORDER BY priced_at DESC
                LIMIT 1) AS usd
         FROM unnest(%(currencies)s::text[]) AS coin (currency)
       ),
       -- Up to which place the follower has seen all trades that are now at most at the horizon, and all others up to there.
       -- It is that of its cursor, but while a follower reads page after page the newest one of the first of them.
       standing AS MATERIALIZED (
       SELECT COALESCE(horizon.place, known.place, -1) AS horizon,
              COALESCE(CASE WHEN horizon.place IS NOT NULL THEN %(seen)s::bigint END, known.place, -1) AS seen
         FROM (SELECT) AS always
         LEFT JOIN arrivals AS known
           ON known.batch_id = %(batch_id)s::uuid
         LEFT JOIN arrivals AS horizon
           ON horizon.batch_id = %(horizon_id)s::uuid
       ),
       -- From that of the place on, or from the first one on.
       batch AS (
       SELECT place,
              batch_id,
              first_chunk,
              first_chunk + CASE WHEN batch_id = %(batch_id)s::uuid THEN %(chunk)s::bigint ELSE 0 END AS next_chunk,
              last_chunk,
              iso_time(arrived_at) AS arrived_at
         FROM arrivals
        WHERE place >= CASE WHEN %(batch_id)s::uuid IS NULL THEN 0
                            ELSE (SELECT known.place
                                    FROM arrivals AS known
                                   WHERE known.batch_id = %(batch_id)s::uuid)
                       END
        ORDER BY place
        LIMIT %(chunks)s::bigint + 2
       ),
       -- One more than the page reads.
       chunk AS MATERIALIZED (
       SELECT next.*,
              row_number() OVER (ORDER BY place, arrival) AS nth
         FROM (SELECT place,
                      batch_id,
                      first_chunk,
                      arrived_at,
                      arrival
                 FROM batch
                CROSS JOIN generate_series(next_chunk, LEAST(last_chunk, next_chunk + %(chunks)s::bigint)) AS arrival
                ORDER BY place, arrival
                LIMIT %(chunks)s::bigint + 1) AS next
       ),
       -- By an array, of which the planner expects few elements in any ledger, in order.
       read_chunk AS NOT MATERIALIZED (
       SELECT arrival,
              nth
         FROM unnest(ARRAY(SELECT arrival
                             FROM chunk
                            WHERE nth <= %(chunks)s::bigint
                            ORDER BY nth)) WITH ORDINALITY AS listed (arrival, nth)
       ),
       -- OFFSET is a fence: the trades of a chunk are read first, and not all wallets of the group. With their order, no
       -- more chunks are read than fill the page.
       read_trade AS (
       SELECT nth,
              0 AS kind,
              wallet_id AS subject_id,
              token_id,
              tx_signature,
              is_sell,
              event_index,
              'trade' AS event,
{trade_columns},
              first_arrival,
              block,
              block_index
         FROM read_chunk
         JOIN trades
           ON trades.arrival = read_chunk.arrival
        WHERE (%(token_id)s::bigint IS NULL OR token_id = %(token_id)s::bigint)
          AND (%(wallet_ids)s::bigint[] IS NULL OR wallet_id = ANY (%(wallet_ids)s::bigint[]))
          AND (%(wants_sells)s::boolean IS NULL OR is_sell = %(wants_sells)s::boolean)
          AND (%(min_value)s::numeric IS NULL OR round_half_up(value, 9) >= %(min_value)s::numeric)
          -- What is stored: a trade that gets its dollars later arrives again then.
          AND (%(min_value_usd)s::numeric IS NULL OR round_half_up(value_usd, 4) >= %(min_value_usd)s::numeric)
        ORDER BY nth
       OFFSET 0
       ),
       trade AS MATERIALIZED (
       SELECT read_trade.*
         FROM read_trade
{changes_after}
       ),
       read_removal AS (
       SELECT nth,
              1 AS kind,
              wallet_id AS subject_id,
              token_id,
              tx_signature,
              is_sell,
              event_index,
              'removal' AS event,
              created_at
         FROM read_chunk
         JOIN removals
           ON removals.arrival = read_chunk.arrival
        WHERE (%(token_id)s::bigint IS NULL OR token_id = %(token_id)s::bigint)
          AND (%(wallet_ids)s::bigint[] IS NULL OR wallet_id = ANY (%(wallet_ids)s::bigint[]))
          AND (%(wants_sells)s::boolean IS NULL OR is_sell = %(wants_sells)s::boolean)
        ORDER BY nth
       OFFSET 0
       ),
       removal AS MATERIALIZED (
       SELECT read_removal.*
         FROM read_removal
{changes_after}
       ),
       -- A wallet that left its group is none that left the ledger: feeds of all groups have its trades.
       ledger_event AS MATERIALIZED (
       SELECT nth,
              2 AS kind,
              event_id AS subject_id,
              0::bigint AS token_id,
              '' AS tx_signature,
              FALSE AS is_sell,
              0 AS event_index,
              event
         FROM read_chunk
         JOIN ledger_events
           ON ledger_events.arrival = read_chunk.arrival
        WHERE (blockchain IS NULL OR blockchain = COALESCE(%(blockchain)s::text, blockchain))
          AND (event = 'purge'
               OR CASE WHEN %(type)s::text IS NULL THEN NOT is_retyped OR %(wants_retyped)s::boolean
                       ELSE type = %(type)s::text
                  END)
          AND (address IS NULL OR %(addresses)s::text[] IS NULL OR address = ANY (%(addresses)s::text[]))
          AND (mint IS NULL OR %(mint)s::text IS NULL OR mint = %(mint)s::text)
          AND (nth > 1
               OR (2, event_id, 0::bigint, '', FALSE, 0)
                  > (%(kind)s::integer, %(subject_id)s::bigint, %(last_token_id)s::bigint, %(tx_signature)s::text,
                     %(is_sell)s::boolean, %(event_index)s::integer))
       ),
       changed AS (
       SELECT *
         FROM trade
        UNION ALL
       SELECT *, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
         FROM removal
        UNION ALL
       SELECT *, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
         FROM ledger_event
       ),
       ahead AS (
       SELECT *
         FROM changed
        ORDER BY nth, kind, subject_id, token_id, tx_signature, is_sell, event_index
        LIMIT %(limit)s::bigint + 1
       ),
       candidate AS MATERIALIZED (
       SELECT ahead.*,
              CASE WHEN ahead.kind < 2 THEN subject_id END AS wallet_id,
              chunk.arrived_at,
              -- A trade that was corrected is new to who has not seen the place where it first arrived.
              ahead.first_arrival IS NOT NULL
              AND COALESCE((SELECT first.place
                              FROM arrivals AS first
                             WHERE first.first_chunk <= ahead.first_arrival
                             ORDER BY first.first_chunk DESC
                             LIMIT 1), 0)
                  <= CASE WHEN chunk.place <= standing.horizon THEN standing.seen
                          ELSE standing.horizon
                     END AS is_known,
              (SELECT tokens.mint
                 FROM tokens
                WHERE tokens.token_id = ahead.token_id) AS mint,
              row_number() OVER (ORDER BY ahead.nth, kind, subject_id, token_id, tx_signature, is_sell, event_index) AS place
         FROM ahead
         JOIN chunk
           ON chunk.nth = ahead.nth
        CROSS JOIN standing
       ),
       shown_trade AS (
       SELECT row_number() OVER (ORDER BY candidate.place) AS place,
              candidate.place AS ordinal,
              CASE WHEN candidate.is_known THEN 'correction' ELSE 'trade' END AS event,
              candidate.arrived_at,
{feed_trade}
{feed_joins}
        WHERE candidate.event = 'trade'
          AND candidate.place <= %(limit)s::bigint
       ),
       shown_removal AS (
       SELECT row_number() OVER (ORDER BY candidate.place) AS place,
              candidate.place AS ordinal,
              candidate.event,
              candidate.arrived_at,
              candidate.tx_signature,
              candidate.event_index,
              CASE WHEN candidate.is_sell THEN 'sell' ELSE 'buy' END AS transaction_type,
              iso_time(candidate.created_at) AS created_at,
{profile},
              candidate.mint
         FROM candidate
         JOIN wallets
           ON wallets.wallet_id = candidate.wallet_id
        WHERE candidate.event = 'removal'
          AND candidate.place <= %(limit)s::bigint
       ),
       shown_departure AS (
       SELECT row_number() OVER (ORDER BY candidate.place) AS place,
              candidate.place AS ordinal,
              candidate.event,
              candidate.arrived_at,
              ledger_events.is_retyped,
{profile}
         FROM candidate
         JOIN ledger_events
           ON ledger_events.event_id = candidate.subject_id
        WHERE candidate.event = 'wallet_removal'
          AND candidate.place <= %(limit)s::bigint
       ),
       shown_purge AS (
       SELECT row_number() OVER (ORDER BY candidate.place) AS place,
              candidate.place AS ordinal,
              candidate.event,
              candidate.arrived_at,
              ledger_events.mint,
              CASE WHEN %(blockchain)s::text IS NULL THEN ledger_events.blockchain END AS blockchain,
              iso_time(removed_before) AS before
         FROM candidate
         JOIN ledger_events
           ON ledger_events.event_id = candidate.subject_id
        WHERE candidate.event = 'purge'
          AND candidate.place <= %(limit)s::bigint
       ),
       state AS MATERIALIZED (
       SELECT (SELECT count(*)
                 FROM candidate) > %(limit)s::bigint AS is_cut,
              (SELECT count(*)
                 FROM chunk) > %(chunks)s::bigint AS has_more_chunks,
              %(batch_id)s::uuid IS NULL OR EXISTS (SELECT
                                                      FROM batch) AS is_known
       ),
       head AS (
       SELECT 1 AS place,
              state.*,
              standing.horizon,
              newest.batch_id AS newest_id,
              reached.place AS reached_place,
              reached.batch_id,
              reached.arrival - reached.first_chunk AS chunk,
              last.kind,
              last.subject_id,
              last.token_id,
              last.tx_signature,
              last.is_sell,
              last.event_index
         FROM state
        CROSS JOIN standing
         LEFT JOIN (SELECT batch_id
                      FROM arrivals
                     WHERE place IS NOT NULL
                     ORDER BY place DESC
                     LIMIT 1) AS newest
           ON TRUE
         LEFT JOIN candidate AS last
           ON state.is_cut
          AND last.place = %(limit)s::bigint
         -- The chunk of the last change that is shown; the last one, if the page has all changes.
         LEFT JOIN chunk AS reached
           ON reached.nth = CASE WHEN state.is_cut THEN last.nth
                                 ELSE LEAST((SELECT count(*)
                                               FROM chunk), %(chunks)s::bigint)
                            END
       )
{lists: shown_trade shown_removal shown_departure shown_purge}
