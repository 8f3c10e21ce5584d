-- Give the committed batches their places, ids and times, in the order of their numbers: of two that changed the same
-- wallet, the later one has the larger number. Needs arrivals_by_placing, arrivals_place_key.
UPDATE arrivals
   SET place = unplaced.nth + (SELECT COALESCE(max(place), 0) FROM arrivals),
       batch_id = gen_random_uuid(),
       arrived_at = clock_timestamp()
  FROM (SELECT first_chunk,
               row_number() OVER (ORDER BY first_chunk) AS nth
          FROM arrivals
         WHERE place IS NULL) AS unplaced
 WHERE arrivals.first_chunk = unplaced.first_chunk
