-- The names of the migrations that have been applied to this database.
SELECT name
  FROM public.schema_migrations
