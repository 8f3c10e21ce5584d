-- How much a database contains. Counts every row.
SELECT (SELECT count(*)
          FROM wallets) AS wallets,
       (SELECT count(*)
          FROM trades) AS trades,
       (SELECT count(*)
          FROM api_keys) AS keys
