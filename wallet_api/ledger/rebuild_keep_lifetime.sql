-- Move a wallet's lifetime away, to be compared with that of the rebuild. Needs lifetimes_pkey.
  WITH gone AS (
       DELETE FROM lifetimes
        WHERE wallet_id = %(wallet_id)s
       RETURNING *
       )
INSERT INTO kept_lifetimes
SELECT *
  FROM gone
