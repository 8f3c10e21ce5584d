-- The tables, views and foreign tables of a schema that have other names than these.
  SELECT relname AS name
    FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
   WHERE nspname = %(schema)s
     AND relkind IN ('r', 'p', 'v', 'm', 'f')
     AND relname <> ALL (%(names)s::text[])
ORDER BY relname
