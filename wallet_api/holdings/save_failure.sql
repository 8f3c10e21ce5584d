-- Save the failure of a refresh, and release its claim. Needs holdings_snapshots_pkey.
UPDATE holdings_snapshots
   SET claim = NULL,
       claim_expires_at = NULL,
       retry_at = now() + make_interval(secs => %(pause_seconds)s),
       failure = %(failure)s
 WHERE wallet_id = %(wallet_id)s
   AND claim = %(claim)s
