-- The trades that a change of many removed: of a wallet, in a token, or before a time. Needs notify_reported_pkey. A time and a
-- token read all of their chain, as seldom as these are removed.
   AND subject >= %(first)s::text
   AND subject < %(end)s::text
   AND (%(mint)s::text IS NULL OR split_part(subject, '|', 3) = %(mint)s::text)
   AND (%(before)s::timestamptz IS NULL OR traded_at < %(before)s::timestamptz)
