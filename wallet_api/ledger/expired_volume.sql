-- Drop the buckets that no volume window reaches any more, and those that corrections have emptied. The hour
-- between keeps off the buckets that an import which has waited for its locks, with an older horizon, still
-- adds to: two imports waiting for each other's buckets would be a deadlock. Needs volume_rollup_by_time.
DELETE FROM volume_rollup
 WHERE ends_at <= %(horizon)s::timestamptz - interval '1 hour'
    OR (txn = 0 AND %(corrected)s)
