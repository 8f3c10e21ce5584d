-- Insert a key. Returns no row if the name exists. Uses the unique index on name.
INSERT INTO api_keys (name, key_hash, credits, rate, expires_at)
VALUES (%(name)s, %(key_hash)s, %(credits)s, %(rate)s, %(expires_at)s)
    ON CONFLICT (name) DO NOTHING
RETURNING key_id
