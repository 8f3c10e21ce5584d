-- Whether the wallet did what was left out. What others did is kept for a while only.
ALTER TABLE sync_left_out
    ADD COLUMN is_signed boolean NOT NULL DEFAULT TRUE;

CREATE INDEX sync_left_out_unsigned ON sync_left_out (first_seen_at)
 WHERE NOT is_signed;
