-- What creates and changes keys.

-- create --
-- Insert a key. Returns no row if a key that is not revoked has the name. Needs api_keys_by_name.
INSERT INTO api_keys (
       name,
       key_hash,
       credits,
       monthly,
       credits_month,
       rate,
       expires_at,
       chains,
       types,
       operations)
VALUES (
       %(name)s,
       %(key_hash)s,
       %(credits)s,
       %(monthly)s,
       this_month(),
       %(rate)s,
       %(expires_at)s,
       %(chains)s,
       %(types)s,
       %(operations)s)
    ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING
RETURNING key_id;

-- find --
-- The key of a name: the one that is not revoked, else the last one that was. There are few keys, so all are
-- read.
SELECT key_id,
       revoked_at,
       expires_at,
       chains,
       types
  FROM api_keys
 WHERE name = %(name)s
 ORDER BY revoked_at IS NULL DESC,
          key_id DESC
 LIMIT 1;

-- revoke --
-- Revoke a key, and return the time of its first revocation. Needs api_keys_pkey.
UPDATE api_keys
   SET revoked_at = COALESCE(revoked_at, now())
 WHERE key_id = %(key_id)s
RETURNING revoked_at;

-- top_up --
-- Add credits to a key. Returns no row for one without a limit. Needs api_keys_pkey.
UPDATE api_keys
   SET credits = balance(credits, monthly, credits_month) + %(amount)s,
       credits_month = this_month()
 WHERE key_id = %(key_id)s
   AND credits IS NOT NULL
RETURNING credits;

-- set --
-- Change what is given of a key: its rate, its expiry, its balance, its credits for each month, and what it
-- is bound to. NULL is the service's rate, no expiry, unlimited, none, and any. Needs api_keys_pkey.
UPDATE api_keys
   SET (credits, monthly, rate, expires_at, chains, types, operations, credits_month) =
       (SELECT changed.credits,
               changed.monthly,
               changed.rate,
               changed.expires_at,
               changed.chains,
               changed.types,
               changed.operations,
               this_month()
          FROM jsonb_build_object('credits', balance(api_keys.credits, api_keys.monthly, credits_month)) AS kept
         CROSS JOIN jsonb_populate_record(api_keys, kept || %(changes)s::jsonb) AS changed)
 WHERE key_id = %(key_id)s
RETURNING credits,
          monthly,
          rate,
          expires_at,
          chains,
          types,
          operations;

-- rotate --
-- Give a key another secret. The one that it has is accepted until a time; one before that no more.
-- Needs api_keys_pkey.
UPDATE api_keys
   SET previous_hash = key_hash,
       previous_until = %(until)s,
       key_hash = %(key_hash)s
 WHERE key_id = %(key_id)s
RETURNING key_id;
