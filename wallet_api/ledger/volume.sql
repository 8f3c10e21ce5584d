-- Add what was put in to the volume of the groups, and subtract what was taken out.

-- volume --
-- Hours, minutes and seconds of all tokens, and hours and seconds of each token. Sorted, so that two imports wait for
-- each other in one order. Needs volume_rollup_pkey.
INSERT INTO volume_rollup AS total (
       blockchain, type, token_id, bucket_seconds, ends_at,
{volumes: $})
  WITH recent AS (
       SELECT 1 AS sign, wallet_id, token_id, created_at, value, value_usd
         FROM walked
        WHERE created_at > %(since)s
        UNION ALL
       SELECT -1, wallet_id, token_id, created_at, value, value_usd
         FROM taken
        WHERE created_at > %(since)s
       ),
       delta AS (
       SELECT wallets.blockchain,
              wallets.type,
              bucket.token_id,
              bucket.bucket_seconds,
              bucket_end(recent.created_at, bucket.bucket_seconds) AS ends_at,
{volumes}
         FROM recent
         JOIN wallets
           ON wallets.wallet_id = recent.wallet_id
        CROSS JOIN LATERAL (VALUES (0, 3600), (0, 60), (0, 1), (recent.token_id, 3600), (recent.token_id, 1))
                  AS bucket (token_id, bucket_seconds)
        GROUP BY bucket.token_id, bucket.bucket_seconds, wallets.blockchain, wallets.type, ends_at
       )
SELECT *
  FROM delta
 WHERE 0 <> ANY (ARRAY[
{volumes: $}])
 ORDER BY token_id, bucket_seconds, blockchain, type, ends_at
    ON CONFLICT (token_id, bucket_seconds, blockchain, type, ends_at) DO UPDATE
   SET
{volumes: $ = total.$ + excluded.$};

-- empty_volume --
-- Of whichever group: a join with the wallets would make Citus refuse it. Needs volume_rollup_pkey.
DELETE FROM volume_rollup
 USING (SELECT DISTINCT bucket.token_id,
               bucket.bucket_seconds,
               bucket_end(taken.created_at, bucket.bucket_seconds) AS ends_at
          FROM taken
         CROSS JOIN LATERAL (VALUES (0, 3600), (0, 60), (0, 1), (taken.token_id, 3600), (taken.token_id, 1))
                   AS bucket (token_id, bucket_seconds)
         WHERE taken.created_at > %(since)s) AS changed
 WHERE volume_rollup.token_id = changed.token_id
   AND volume_rollup.bucket_seconds = changed.bucket_seconds
   AND volume_rollup.ends_at = changed.ends_at
   AND volume_rollup.txn = 0;

-- expired_volume --
-- The buckets that no window reaches any more. The hour between keeps off the buckets that an import which has waited
-- for its locks, with an earlier `since`, still adds to: two imports waiting for each other's buckets would be a
-- deadlock. Needs volume_rollup_by_time.
DELETE FROM volume_rollup
 WHERE ends_at <= %(since)s::timestamptz - interval '1 hour';
