-- The relations of a schema that have other names than these and are no index and no part of a table.
  SELECT relname AS name
    FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
   WHERE nspname = %(schema)s
     AND relkind IN ('r', 'p', 'v', 'm', 'f')
     AND relname <> ALL (%(names)s::text[])
ORDER BY relname
