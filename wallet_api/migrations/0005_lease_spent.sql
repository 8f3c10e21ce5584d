-- What a worker had spent of its lease when it last renewed it; the worker's journal knows what it spent since.
ALTER TABLE credit_leases
    ADD COLUMN spent bigint NOT NULL DEFAULT 0;
