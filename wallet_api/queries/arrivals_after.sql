-- The batches of changes from one on, which has changes left to read, or from the first one on. A row without a batch if there
-- is none; such a row alone if the batch is unknown.
-- Needs arrivals_batch_id_key, arrivals_place_key, arrivals_by_placing.
SELECT EXISTS (SELECT
                 FROM arrivals
                WHERE place IS NULL) AS has_unplaced,
       batch.batch_id,
       batch.first_chunk,
       batch.last_chunk,
       batch.arrived_at
  FROM (SELECT) AS always
  LEFT JOIN (SELECT place,
                    batch_id,
                    first_chunk,
                    last_chunk,
                    arrived_at
               FROM arrivals
              WHERE place >= CASE WHEN %(batch_id)s::uuid IS NULL THEN 0
                                  ELSE (SELECT known.place
                                          FROM arrivals AS known
                                         WHERE known.batch_id = %(batch_id)s::uuid)
                             END
              ORDER BY place
              LIMIT %(batches)s::bigint) AS batch
    ON true
 ORDER BY batch.place
