-- Drop the buckets that no volume window reaches any more, and those that corrections have emptied.
-- Needs volume_rollup_by_time.
DELETE FROM volume_rollup
 WHERE ends_at <= %(horizon)s
    OR (txn = 0 AND %(corrected)s)
