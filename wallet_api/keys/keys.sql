-- What creates and changes keys.

-- create --
-- Insert a key. Returns no row if a key that is not revoked has the name. Uses api_keys_by_name.
INSERT INTO api_keys (name, key_hash, credits, rate, expires_at)
VALUES (%(name)s, %(key_hash)s, %(credits)s, %(rate)s, %(expires_at)s)
    ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING
RETURNING key_id;

-- find --
-- The key of a name: the one that is not revoked, else the last one that was. There are few keys, so all are read.
  SELECT key_id,
         revoked_at,
         expires_at
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
-- Add credits to a key; NULL is unlimited and stays so. Needs api_keys_pkey.
   UPDATE api_keys
      SET credits = credits + %(amount)s
    WHERE key_id = %(key_id)s
RETURNING credits;

-- set --
-- Change the rate of a key, its expiry, or both; NULL is the service's rate, and no expiry.
-- Needs api_keys_pkey.
   UPDATE api_keys
      SET rate = CASE
                   WHEN %(sets_rate)s
                   THEN %(rate)s
                   ELSE rate
                 END,
          expires_at = CASE
                         WHEN %(sets_expiry)s
                         THEN %(expires_at)s::timestamptz
                         ELSE expires_at
                       END
    WHERE key_id = %(key_id)s
RETURNING rate,
          expires_at;

-- rotate --
-- Give a key another secret. The one that it has is accepted until a time; one before that no more.
-- Needs api_keys_pkey.
   UPDATE api_keys
      SET previous_hash = key_hash,
          previous_until = %(until)s,
          key_hash = %(key_hash)s
    WHERE key_id = %(key_id)s
RETURNING key_id;
