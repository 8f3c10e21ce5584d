-- What a transaction has changed, for those who follow the feed: its trades, the wallets that are removed, leave their group or
-- return to it, and purges. `first_chunk` is the first of its numbers.

-- removed --
-- The trades that were removed, with their times; a chunk is 100 of them, and one more for each 4,096 of the transaction:
-- at most 148.
INSERT INTO removals (wallet_id, token_id, tx_signature, is_sell, event_index, created_at, arrival)
  WITH numbered AS MATERIALIZED (
       SELECT removed.*,
              taken.created_at
         FROM removed
         JOIN taken
        USING (wallet_id, token_id, tx_signature, is_sell, event_index)
       )
SELECT numbered.*,
       %(first_chunk)s::bigint + (row_number() OVER () - 1) / ((SELECT count(*) FROM numbered) / 4096 + 100)
  FROM numbered;

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
HAVING max(last_chunk) IS NOT NULL;

-- superseded_removals --
-- Forget earlier removals of wallets from the group in which they are, which one of them leaves again, or is in again. What is only
-- of its group does not supersede a removal, which feeds of all groups have too. Needs ledger_events_by_address, wallets_pkey.
DELETE FROM ledger_events
 USING wallets
 WHERE wallets.wallet_id = ANY (%(wallet_ids)s)
   AND ledger_events.event = 'wallet_removal'
   AND ledger_events.blockchain = wallets.blockchain
   AND ledger_events.address = wallets.address
   AND ledger_events.type = wallets.type
   AND (ledger_events.is_retyped OR NOT %(is_retyped)s::boolean);

-- wallet_removals --
-- The wallets as they are: before the change. Needs wallets_pkey.
INSERT INTO ledger_events (
       arrival, event, blockchain, type, address, name, image_url, twitter, telegram, copytrade_link, is_retyped)
SELECT %(first_chunk)s::bigint + (row_number() OVER () - 1) / (count(*) OVER () / 4096 + 100) AS arrival,
       'wallet_removal',
       blockchain,
       type,
       address,
       name,
       image_url,
       twitter,
       telegram,
       copytrade_link,
       %(is_retyped)s::boolean
  FROM wallets
 WHERE wallet_id = ANY (%(wallet_ids)s);

-- remains_before --
-- A purge is one event instead of its trades, where none that it names remains: whether a trade of before a time remains. All trades may be read.
SELECT TRUE AS found
  FROM trades
 WHERE created_at < %(before)s
 LIMIT 1;

-- purge_before --
INSERT INTO ledger_events (arrival, event, removed_before)
VALUES (%(first_chunk)s, 'purge', %(before)s);

-- purged_tokens --
-- The tokens of the removed trades.
SELECT DISTINCT token_id
  FROM removed;

-- remains_of_tokens --
-- Whether a trade in these tokens remains. Needs trades_by_token.
SELECT TRUE AS found
  FROM trades
 WHERE token_id = ANY (%(token_ids)s::bigint[])
 LIMIT 1;

-- purge_of_tokens --
-- Needs tokens_pkey.
INSERT INTO ledger_events (arrival, event, blockchain, mint)
SELECT %(first_chunk)s::bigint,
       'purge',
       blockchain,
       mint
  FROM tokens
 WHERE token_id = ANY (%(token_ids)s::bigint[]);

-- unplaced --
-- The committed batches without a place. Needs arrivals_by_placing.
SELECT first_chunk
  FROM arrivals
 WHERE place IS NULL;

-- uncommitted --
-- Of a Citus cluster, whether a worker is away, or has prepared a transaction that the coordinator has committed, and has
-- not committed it yet.
SELECT TRUE AS found
  FROM run_command_on_workers(
       $$SELECT COALESCE(array_agg(gid), '{}') FROM pg_prepared_xacts WHERE database = current_database()$$) AS answer
 WHERE NOT success
    OR EXISTS (
       SELECT
         FROM pg_dist_transaction
        WHERE gid = ANY (CASE WHEN success THEN result::text[] END))
 LIMIT 1;

-- place --
-- Give committed batches their places, ids and times, in the order of their numbers: of two that changed the same
-- wallet, the later one has the larger number. Needs arrivals_pkey, arrivals_place_key.
UPDATE arrivals
   SET place = unplaced.nth + (SELECT COALESCE(max(place), 0) FROM arrivals),
       batch_id = gen_random_uuid(),
       arrived_at = clock_timestamp()
  FROM (SELECT first_chunk,
               row_number() OVER (ORDER BY first_chunk) AS nth
          FROM arrivals
         WHERE first_chunk = ANY (%(committed)s::bigint[])) AS unplaced
 WHERE arrivals.first_chunk = unplaced.first_chunk;
