-- The session of webhooks.

-- lock --
SELECT pg_try_advisory_lock(%(lock)s);

-- staging --
-- Tables of a session that stores nothing, in place of those of their names.
CREATE TEMP TABLE notify_place (LIKE public.notify_place INCLUDING ALL);

CREATE TEMP TABLE notify_reported (LIKE public.notify_reported INCLUDING ALL);

CREATE TEMP TABLE notify_clusters (LIKE public.notify_clusters INCLUDING ALL);

CREATE TEMP TABLE notify_messages (LIKE public.notify_messages INCLUDING ALL);

CREATE TEMP TABLE notify_targets (LIKE public.notify_targets INCLUDING ALL);
