-- How many of the groups' buckets the rebuild has changed, of those wholly inside the horizon.
SELECT count(DISTINCT (blockchain, type, token_id, bucket_seconds, ends_at)) AS changed
  FROM ((SELECT * FROM kept_volume
         EXCEPT
         SELECT * FROM volume_rollup)
        UNION ALL
        (SELECT * FROM volume_rollup
         EXCEPT
         SELECT * FROM kept_volume)) AS difference
 WHERE ends_at > %(horizon)s::timestamptz + interval '1 hour'
