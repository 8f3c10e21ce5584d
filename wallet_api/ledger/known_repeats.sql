-- For fresh.sql to include: known, among which are all trades that the ledger has of repeated. Needs trades_pkey.
       known AS NOT MATERIALIZED (
       SELECT *
         FROM trades
       )
