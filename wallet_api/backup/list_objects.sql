-- The tables, functions and types with these names in a schema, without those of extensions.
  WITH named AS (
          SELECT 'pg_class'::regclass AS catalog,
                 oid,
                 relname AS name,
                 relnamespace AS namespace,
                 relowner AS owner,
                 'TABLE' AS kind,
                 has_table_privilege(oid, 'SELECT') AS is_readable
            FROM pg_class
           WHERE relkind IN ('r', 'p')
       UNION ALL
          SELECT 'pg_proc'::regclass,
                 oid,
                 proname,
                 pronamespace,
                 proowner,
                 'ROUTINE',
                 TRUE
            FROM pg_proc
       UNION ALL
          SELECT 'pg_type'::regclass,
                 pg_type.oid,
                 typname,
                 typnamespace,
                 typowner,
                 'TYPE',
                 TRUE
            FROM pg_type
            JOIN pg_class ON pg_class.oid = typrelid
           WHERE relkind = 'c'
       )
SELECT named.kind,
       named.name,
       (pg_identify_object(named.catalog, named.oid, 0)).identity AS identity,
       named.oid,
       pg_has_role(named.owner, 'USAGE') AS is_own,
       named.is_readable
  FROM named
  JOIN pg_namespace ON pg_namespace.oid = named.namespace
 WHERE pg_namespace.nspname = %(schema)s
   AND named.name = ANY (%(names)s::text[])
   AND NOT EXISTS (SELECT FROM pg_depend
                    WHERE pg_depend.classid = named.catalog
                      AND pg_depend.objid = named.oid
                      AND pg_depend.deptype = 'e')
 ORDER BY named.kind,
       named.name
