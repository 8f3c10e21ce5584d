-- How many rows of the provider's response could not be read, and are not in the snapshot.
ALTER TABLE holdings_snapshots
    ADD COLUMN left_out bigint NOT NULL DEFAULT 0;
