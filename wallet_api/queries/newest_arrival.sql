-- The newest batch of changes that has a place. Needs arrivals_place_key, arrivals_by_placing.
SELECT EXISTS (SELECT
                 FROM arrivals
                WHERE place IS NULL) AS has_unplaced,
       newest.batch_id,
       newest.first_chunk,
       newest.last_chunk
  FROM (SELECT) AS always
  LEFT JOIN (SELECT batch_id,
                    first_chunk,
                    last_chunk
               FROM arrivals
              WHERE place IS NOT NULL
              ORDER BY place DESC
              LIMIT 1) AS newest
    ON true
