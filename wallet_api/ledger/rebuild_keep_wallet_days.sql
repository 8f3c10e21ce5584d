-- Move a wallet's days away, to be compared with those of the rebuild. Needs wallet_days_pkey.
  WITH gone AS (
       DELETE FROM wallet_days
        WHERE wallet_id = %(wallet_id)s
       RETURNING *
       )
INSERT INTO kept_wallet_days
SELECT *
  FROM gone
