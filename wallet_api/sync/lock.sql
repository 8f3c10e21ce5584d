-- Take all of these locks, or find out that one of them is held.
SELECT bool_and(pg_try_advisory_lock(%(lock_class)s::integer, lock)) AS held
  FROM unnest(%(locks)s::integer[]) AS lock
