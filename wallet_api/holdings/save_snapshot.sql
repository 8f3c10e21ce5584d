-- Saves what the holder of a claim read, and gives the claim back; no row when the claim has lapsed to another.
-- Needs holdings_snapshots_pkey.
UPDATE holdings_snapshots
   SET tokens = %(tokens)s,
       token_count = %(token_count)s,
       refreshed_at = now(),
       claim = NULL,
       claim_expires_at = NULL,
       retry_at = NULL,
       failure = NULL
 WHERE wallet_id = %(wallet_id)s
   AND claim = %(claim)s
RETURNING shown_time(refreshed_at) AS last_updated
