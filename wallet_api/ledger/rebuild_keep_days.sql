-- Move the days of a wallet's positions away, to be compared with those of the rebuild. Needs position_rollup_pkey.
  WITH gone AS (
       DELETE FROM position_rollup
        WHERE wallet_id = %(wallet_id)s
       RETURNING *
       )
INSERT INTO kept_days
SELECT *
  FROM gone
