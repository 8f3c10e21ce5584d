-- Insert a key. Returns no row if a key that is not revoked has the name. Uses api_keys_by_name.
INSERT INTO api_keys (name, key_hash, credits, rate, expires_at)
VALUES (%(name)s, %(key_hash)s, %(credits)s, %(rate)s, %(expires_at)s)
    ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING
RETURNING key_id
