-- What a restore fills: tables with their columns and what they refer to, and sequences.

-- tables --
SELECT pg_class.relname AS name,
       array(SELECT attname
               FROM pg_attribute
              WHERE attrelid = pg_class.oid
                AND attnum > 0
                AND NOT attisdropped
                AND attgenerated = '') AS columns,
       array(SELECT confrelid::regclass::text
               FROM pg_constraint
              WHERE conrelid = pg_class.oid
                AND contype = 'f'
                AND confrelid <> conrelid) AS referenced
  FROM pg_class
 WHERE relnamespace = 'public'::regnamespace
   AND relkind = 'r'
 ORDER BY relname;

-- sequences --
SELECT sequencename AS name
  FROM pg_sequences
 WHERE schemaname = 'public';

-- place --
SELECT setval(format('public.%%I', %(name)s::text)::regclass, %(place)s, %(is_called)s);
