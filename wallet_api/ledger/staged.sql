-- The bytes of all temporary tables of a session.
SELECT sum(pg_relation_size(oid))::bigint
  FROM pg_class
 WHERE relnamespace = pg_my_temp_schema()
   AND relkind = 'r'
