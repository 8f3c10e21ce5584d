-- Revoke a key, keeping the time of the first revocation. No row when there is no such key.
   UPDATE api_keys
      SET revoked_at = COALESCE(revoked_at, now())
    WHERE name = %(name)s
RETURNING revoked_at
