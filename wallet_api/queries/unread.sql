-- When the oldest change after a place of the feed arrived; NULL if there is none. Needs arrivals_batch_id_key, arrivals_place_key.
  WITH known AS (
       SELECT place,
              last_chunk - first_chunk < %(chunk)s::bigint AS is_read
         FROM arrivals
        WHERE batch_id = %(batch_id)s::uuid
       )
SELECT arrived_at
  FROM arrivals
 WHERE place >= COALESCE((SELECT place + is_read::integer
                            FROM known), 0)
 ORDER BY place
 LIMIT 1
