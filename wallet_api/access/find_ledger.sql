-- What tells this database from every other one, a copy of it included.
SELECT ledger::text AS ledger,
       (SELECT oid
          FROM pg_database
         WHERE datname = current_database())::text AS database
  FROM credit_ledger
