-- For other statements to include: known, among which are all positions that the ledger has of changed.
-- Needs positions_pkey.
       known AS NOT MATERIALIZED (
       SELECT *
         FROM positions
       )
