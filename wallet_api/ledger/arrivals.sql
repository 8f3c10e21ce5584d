-- What a transaction has changed, for those who follow the feed. `first_chunk` is the first of its numbers.

-- removed --
-- The trades that were removed, with their times; a chunk is at most about 100 of them.
INSERT INTO removals (wallet_id, token_id, tx_signature, is_sell, event_index, created_at, arrival)
  WITH gone AS MATERIALIZED (
       SELECT taken.wallet_id,
              taken.token_id,
              taken.tx_signature,
              taken.is_sell,
              taken.event_index,
              taken.created_at
         FROM removed
         JOIN taken
           ON taken.wallet_id = removed.wallet_id
          AND taken.token_id = removed.token_id
          AND taken.tx_signature = removed.tx_signature
          AND taken.is_sell = removed.is_sell
          AND taken.event_index = removed.event_index
       )
SELECT wallet_id,
       token_id,
       tx_signature,
       is_sell,
       event_index,
       created_at,
       %(first_chunk)s::bigint + (row_number() OVER () - 1) / ((SELECT count(*) FROM gone) / 4096 + 100)
  FROM gone;

-- returned --
-- Forget the removal of trades that were imported again. Needs removals_pkey.
DELETE FROM removals
 USING fresh
 WHERE removals.wallet_id = fresh.wallet_id
   AND removals.token_id = fresh.token_id
   AND removals.tx_signature = fresh.tx_signature
   AND removals.is_sell = fresh.is_sell
   AND removals.event_index = fresh.event_index;

-- arrived --
-- The chunks of the transaction, if it has any. Needs trades_by_arrival, removals_by_arrival, ledger_events_by_arrival.
INSERT INTO arrivals (first_chunk, last_chunk)
  WITH given AS (
       SELECT max(arrival) AS last_chunk
         FROM trades
        WHERE arrival BETWEEN %(first_chunk)s::bigint AND %(first_chunk)s::bigint + 4095
        UNION ALL
       SELECT max(arrival)
         FROM removals
        WHERE arrival BETWEEN %(first_chunk)s::bigint AND %(first_chunk)s::bigint + 4095
        UNION ALL
       SELECT max(arrival)
         FROM ledger_events
        WHERE arrival BETWEEN %(first_chunk)s::bigint AND %(first_chunk)s::bigint + 4095
       )
SELECT %(first_chunk)s::bigint,
       max(last_chunk)
  FROM given
HAVING max(last_chunk) IS NOT NULL
