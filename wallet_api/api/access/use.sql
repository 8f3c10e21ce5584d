-- What keys are used for.

-- read --
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
          operation COLLATE "C";

-- settle --
-- Add to what keys were used for: requests, each of which cost so many credits. Rows are written in one order, so that
-- workers do not deadlock. Needs key_use_pkey.
INSERT INTO key_use AS known (key_id, day, operation, requests, credits, last_used_at)
SELECT key_id,
       day,
       operation,
       sum(requests) AS requests,
       sum(requests * credits) AS credits,
       %(now)s::timestamptz AS last_used_at
  FROM unnest(%(key_ids)s::bigint[], %(days)s::date[], %(operations)s::text[], %(requests)s::bigint[],
              %(credits)s::bigint[]) AS used (key_id, day, operation, requests, credits)
 GROUP BY key_id, day, operation
 ORDER BY key_id, day, operation
    ON CONFLICT (key_id, day, operation) DO UPDATE
   SET requests = known.requests + excluded.requests,
       credits = known.credits + excluded.credits,
       last_used_at = GREATEST(known.last_used_at, excluded.last_used_at);
