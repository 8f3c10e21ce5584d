-- The sizes of these tables.
SELECT oid,
       pg_table_size(oid) AS size_bytes
  FROM unnest(%(oids)s::oid[]) AS oid
