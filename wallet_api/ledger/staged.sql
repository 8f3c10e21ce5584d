-- What empties the temporary tables of a session at the end of a transaction: those of staging.sql.

-- size --
-- The bytes of all temporary tables.
SELECT sum(pg_relation_size(oid))::bigint
  FROM pg_class
 WHERE relnamespace = pg_my_temp_schema()
   AND relkind = 'r';

-- delete --
-- For few rows.
  WITH incoming_rows AS (DELETE FROM incoming),
       fresh_rows AS (DELETE FROM fresh),
       removed_rows AS (DELETE FROM removed),
       departed_rows AS (DELETE FROM departed),
       affected_rows AS (DELETE FROM affected),
       continued_rows AS (DELETE FROM continued),
       taken_rows AS (DELETE FROM taken),
       walked_rows AS (DELETE FROM walked),
       day_sums_rows AS (DELETE FROM day_sums),
       priced_rows AS (DELETE FROM priced),
       newest_rows AS (DELETE FROM newest)
SELECT;

-- truncate --
-- For many.
TRUNCATE incoming, fresh, removed, departed, affected, continued, taken, walked, day_sums, priced, newest
