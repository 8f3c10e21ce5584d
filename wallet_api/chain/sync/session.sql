-- The locks of syncs and searches.

-- lock --
-- Acquire all of these locks; held is false if another session holds one of them.
SELECT bool_and(pg_try_advisory_lock(%(lock_class)s::integer, lock)) AS held
  FROM unnest(%(locks)s::integer[]) AS lock;

-- holder --
-- Another session that holds one of these locks on this database: its application name, and when it
-- connected.
SELECT activity.application_name,
       activity.backend_start
  FROM pg_locks AS held
  JOIN pg_stat_activity AS activity
    ON activity.pid = held.pid
 WHERE held.locktype = 'advisory'
   AND held.granted
   AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND held.classid::bigint = %(lock_class)s
   AND held.objid::bigint = ANY(%(locks)s::bigint[])
   AND held.objsubid = 2
   AND held.pid <> pg_backend_pid();
