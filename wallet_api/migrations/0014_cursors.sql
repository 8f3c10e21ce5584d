-- The secret of cursors, the same for all workers and after a restore.

CREATE TABLE cursor_secret (
    is_only boolean PRIMARY KEY DEFAULT TRUE CHECK (is_only),
    secret bytea NOT NULL CHECK (octet_length(secret) = 32)
);

-- UUIDs of version 4 have 122 random bits each.
INSERT INTO cursor_secret (secret)
VALUES (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
