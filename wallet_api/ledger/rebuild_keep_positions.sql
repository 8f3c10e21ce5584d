-- Take a wallet's positions away, to be compared with what the walk gives. Needs positions_pkey.
  WITH gone AS (
       DELETE FROM positions
        WHERE wallet_id = %(wallet_id)s
       RETURNING *
       )
INSERT INTO kept_positions
SELECT *
  FROM gone
