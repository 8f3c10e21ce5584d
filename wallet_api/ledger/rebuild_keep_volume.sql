-- Move the groups' volume away, to be compared with that of the rebuild.
  WITH gone AS (
       DELETE FROM volume_rollup
       RETURNING *
       )
INSERT INTO kept_volume
SELECT *
  FROM gone
