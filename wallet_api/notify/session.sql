-- The session of webhooks.

-- lock --
SELECT pg_try_advisory_lock(%(lock)s);

-- is_locked --
-- Whether a session of this database has the lock.
SELECT EXISTS (SELECT
                 FROM pg_locks
                WHERE locktype = 'advisory'
                  AND granted
                  AND objsubid = 1
                  AND classid = 0
                  AND objid = %(lock)s
                  AND database = (SELECT oid
                                    FROM pg_database
                                   WHERE datname = current_database()));

-- staging --
-- Tables of a session that stores nothing, in place of those of their names.
CREATE TEMP TABLE notify_place (LIKE public.notify_place INCLUDING ALL);

CREATE TEMP TABLE notify_trades (LIKE public.notify_trades INCLUDING ALL);

CREATE TEMP TABLE notify_clusters (LIKE public.notify_clusters INCLUDING ALL);

CREATE TEMP TABLE notify_messages (LIKE public.notify_messages INCLUDING ALL);

CREATE TEMP TABLE notify_targets (LIKE public.notify_targets INCLUDING ALL);
