-- Keys that are rotated, names that are used again, and what each key is used for.

-- After a rotation, the secret before it is accepted until previous_until.
ALTER TABLE api_keys
  ADD COLUMN previous_hash bytea UNIQUE CHECK (octet_length(previous_hash) = 32),
  ADD COLUMN previous_until timestamptz,
  ADD CHECK ((previous_hash IS NULL) = (previous_until IS NULL));

-- The name of a revoked key can be given to another one.
ALTER TABLE api_keys DROP CONSTRAINT api_keys_name_key;

CREATE UNIQUE INDEX api_keys_by_name ON api_keys (name) WHERE revoked_at IS NULL;

-- What a key was used for on a day of UTC: requests with any response, and the credits that they cost.
CREATE TABLE key_use (
    key_id bigint NOT NULL,
    day date NOT NULL,
    operation text NOT NULL,
    requests bigint NOT NULL,
    credits bigint NOT NULL,
    last_used_at timestamptz NOT NULL,
    PRIMARY KEY (key_id, day, operation)
) WITH (fillfactor = 50);

CREATE INDEX key_use_by_day ON key_use (day);
