-- The newest batch of changes that has a place, and its number of chunks. Needs arrivals_place_key.
SELECT batch_id,
       last_chunk - first_chunk + 1 AS chunks
  FROM arrivals
 WHERE place IS NOT NULL
 ORDER BY place DESC
 LIMIT 1
