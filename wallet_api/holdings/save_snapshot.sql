-- Save the balances of a refresh, and release its claim; no row if the claim was taken over or the wallet
-- removed. Needs holdings_snapshots_pkey.
UPDATE holdings_snapshots
   SET native_amount = %(native_amount)s,
       tokens = %(tokens)s::jsonb,
       left_out = %(left_out)s,
       refreshed_at = now(),
       claim = NULL,
       claim_expires_at = NULL,
       retry_at = NULL,
       failure = NULL
 WHERE wallet_id = %(wallet_id)s
   AND claim = %(claim)s
RETURNING refreshed_at
