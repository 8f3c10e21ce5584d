-- Acquire all of these locks; held is false if another session holds one of them.
SELECT bool_and(pg_try_advisory_lock(%(lock_class)s::integer, lock)) AS held
  FROM unnest(%(locks)s::integer[]) AS lock
