-- Take the locks of all wallets about to change, in one order for everybody. Wallets share 64 locks, so
-- that a large batch cannot fill the server's lock table.
SELECT pg_advisory_xact_lock(%(lock_class)s, bucket)
  FROM (SELECT DISTINCT (wallet_id %% 64)::integer AS bucket
          FROM incoming
         ORDER BY bucket) AS buckets
