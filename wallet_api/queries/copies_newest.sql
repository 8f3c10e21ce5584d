-- When the newest trade of a wallet in (%(since)s, %(until)s] was that comes after %(most)s newer ones; no row where there are not so many.
-- Needs trades_by_time.
SELECT created_at
  FROM trades
 WHERE wallet_id = %(wallet_id)s
   AND created_at > %(since)s
   AND created_at <= %(until)s
 ORDER BY created_at DESC
OFFSET %(most)s::bigint
 LIMIT 1
