-- The other sessions of this service in this database, by name.
  SELECT application_name,
         count(*) AS sessions
    FROM pg_stat_activity
   WHERE datname = current_database()
     AND starts_with(application_name, 'wallet-api')
     AND pid <> pg_backend_pid()
GROUP BY application_name
ORDER BY application_name
