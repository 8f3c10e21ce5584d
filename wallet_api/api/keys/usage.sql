-- What an operator watches of keys.

-- list --
-- All keys, by name, the oldest of a name first, each with its use of a day and of the 30 days up to it.
-- credits do not yet reflect the charges of the last 50 ms, and the use not that of the last 10 seconds,
-- which workers settle later.
SELECT api_keys.key_id,
       api_keys.name,
       balance(api_keys.credits, api_keys.monthly, api_keys.credits_month) AS credits,
       api_keys.monthly,
       api_keys.rate,
       api_keys.chains,
       api_keys.types,
       api_keys.operations,
       api_keys.expires_at,
       api_keys.revoked_at,
       api_keys.created_at,
       api_keys.previous_until,
       use.last_used_at,
       COALESCE(use.requests_today, 0) AS requests_today,
       COALESCE(use.requests_30_days, 0) AS requests_30_days,
       COALESCE(use.credits_today, 0) AS credits_today,
       COALESCE(use.credits_30_days, 0) AS credits_30_days
  FROM api_keys
  LEFT JOIN (SELECT key_id,
                    max(last_used_at) AS last_used_at,
                    sum(requests) FILTER (WHERE day = %(today)s)::bigint AS requests_today,
                    sum(requests) FILTER (WHERE day > %(today)s::date - 30)::bigint AS requests_30_days,
                    sum(credits) FILTER (WHERE day = %(today)s)::bigint AS credits_today,
                    sum(credits) FILTER (WHERE day > %(today)s::date - 30)::bigint AS credits_30_days
               FROM key_use
              GROUP BY key_id) AS use
    ON use.key_id = api_keys.key_id
 ORDER BY api_keys.name COLLATE "C", api_keys.key_id;

-- usage --
-- What keys were used for from a day on, until before another, by key, day and operation; of one name, or of
-- all. Needs key_use_by_day, api_keys_pkey.
SELECT api_keys.name,
       use.day,
       use.operation,
       use.requests,
       use.credits
  FROM key_use AS use
  JOIN api_keys
    ON api_keys.key_id = use.key_id
 WHERE use.day >= %(since)s
   AND use.day < %(until)s
   AND api_keys.name = COALESCE(%(name)s::text, api_keys.name)
 ORDER BY api_keys.name COLLATE "C",
          api_keys.key_id,
          use.day,
          use.operation COLLATE "C";

-- count_short --
-- How many keys are empty, or low: their balance is less than what they are charged in a week, or until it
-- renews. A week is the last seven days of UTC. There are few keys, so all are read. Needs key_use_by_day.
  WITH limited AS (
       SELECT key_id,
              balance(credits, monthly, credits_month) AS credits,
              CASE WHEN monthly IS NULL THEN 1
                   ELSE LEAST(1, extract(epoch FROM this_month() + interval '1 month'
                                                    - %(now)s::timestamptz AT TIME ZONE 'UTC') / 604800)
              END AS part
         FROM api_keys
        WHERE credits IS NOT NULL
          AND revoked_at IS NULL
          AND (expires_at IS NULL
               OR expires_at > %(now)s)
       ),
       charged AS (
       SELECT key_id,
              sum(credits) AS credits
         FROM key_use
        WHERE day > (%(now)s::timestamptz AT TIME ZONE 'UTC')::date - 7
        GROUP BY key_id
       )
SELECT count(*) FILTER (WHERE limited.credits < %(cost)s) AS empty,
       count(*) FILTER (WHERE limited.credits >= %(cost)s
                          AND limited.credits < charged.credits * part) AS low
  FROM limited
  LEFT JOIN charged
    ON charged.key_id = limited.key_id;

-- count_expiring --
-- How many keys expire within a time. There are few keys, so all are read.
SELECT count(*)
  FROM api_keys
 WHERE revoked_at IS NULL
   AND expires_at > %(now)s
   AND expires_at <= %(until)s;
