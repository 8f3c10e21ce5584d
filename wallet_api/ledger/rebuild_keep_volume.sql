-- Take the groups' volume away, to be compared with what the trades give.
  WITH gone AS (
       DELETE FROM volume_rollup
       RETURNING *
       )
INSERT INTO kept_volume
SELECT *
  FROM gone
