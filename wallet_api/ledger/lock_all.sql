-- Take the locks of all wallets, in the same order as an import does.
SELECT pg_advisory_xact_lock(%(lock_class)s, bucket)
  FROM generate_series(0, 63) AS bucket
