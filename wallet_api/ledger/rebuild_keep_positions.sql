-- Move a wallet's positions away, to be compared with those of the rebuild. Needs positions_pkey.
  WITH gone AS (
       DELETE FROM positions
        WHERE wallet_id = %(wallet_id)s
       RETURNING *
       )
INSERT INTO kept_positions
SELECT *
  FROM gone
