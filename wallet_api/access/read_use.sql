-- What a key was used for in the month of a day, by operation, the most requested first, and on that day. Needs key_use_pkey.
SELECT operation,
       sum(requests)::bigint AS requests,
       sum(credits)::bigint AS credits,
       COALESCE(sum(requests) FILTER (WHERE day = %(today)s), 0)::bigint AS requests_today,
       COALESCE(sum(credits) FILTER (WHERE day = %(today)s), 0)::bigint AS credits_today
  FROM key_use
 WHERE key_id = %(key_id)s
   AND day >= date_trunc('month', %(today)s::timestamp)::date
   AND day <= %(today)s
 GROUP BY operation
 ORDER BY sum(requests) DESC,
          operation COLLATE "C"
