-- Revoke a key and return the time of its first revocation. No row for an unknown name. Uses the unique index on name.
   UPDATE api_keys
      SET revoked_at = COALESCE(revoked_at, now())
    WHERE name = %(name)s
RETURNING revoked_at
