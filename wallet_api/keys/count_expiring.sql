-- How many keys expire within a time. There are few keys, so all are read.
SELECT count(*)
  FROM api_keys
 WHERE revoked_at IS NULL
   AND expires_at > %(now)s
   AND expires_at <= %(until)s
