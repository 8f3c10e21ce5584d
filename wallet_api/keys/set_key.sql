-- Change the rate of a key, its expiry, or both; NULL is the service's rate, and no expiry. Needs api_keys_pkey.
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
      AND revoked_at IS NULL
RETURNING rate,
          expires_at
