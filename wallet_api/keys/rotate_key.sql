-- Give a key another secret. The one that it has is accepted until a time; one before that no more. Needs api_keys_pkey.
   UPDATE api_keys
      SET previous_hash = key_hash,
          previous_until = %(until)s,
          key_hash = %(key_hash)s
    WHERE key_id = %(key_id)s
      AND revoked_at IS NULL
RETURNING key_id
