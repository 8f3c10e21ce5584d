-- Take a wallet's days away, to be compared with what the walk gives. Needs position_rollup_pkey.
  WITH gone AS (
       DELETE FROM position_rollup
        WHERE wallet_id = %(wallet_id)s
       RETURNING *
       )
INSERT INTO kept_days
SELECT *
  FROM gone
