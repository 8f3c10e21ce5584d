-- The other sessions of this service in this database, by name, with their numbers.
SELECT concat(application_name, ' (', count(*), ')') AS session
  FROM pg_stat_activity
 WHERE datname = current_database()
   AND starts_with(application_name, 'wallet-api')
   AND pid <> pg_backend_pid()
 GROUP BY application_name
 ORDER BY application_name
