-- Revoke the key of a name that is not revoked, else the last one that was, and return the time of its first revocation. No
-- row for an unknown name. There are few keys, so all are read.
   UPDATE api_keys
      SET revoked_at = COALESCE(revoked_at, now())
    WHERE key_id = (SELECT key_id
                      FROM api_keys
                     WHERE name = %(name)s
                     ORDER BY revoked_at IS NULL DESC,
                              key_id DESC
                     LIMIT 1)
RETURNING revoked_at
