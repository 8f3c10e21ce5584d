-- A sync that has never succeeded is known from its first attempt on.
ALTER TABLE sync_heartbeats
    ALTER COLUMN succeeded_at DROP NOT NULL,
    ADD COLUMN first_tried_at timestamptz;

UPDATE sync_heartbeats
   SET first_tried_at = succeeded_at;

ALTER TABLE sync_heartbeats
    ALTER COLUMN first_tried_at SET NOT NULL;
