-- The numbers of wallets, trades and keys.
SELECT tracked.wallets,
       made.trades,
       issued.keys
  FROM (SELECT count(*) AS wallets FROM wallets) AS tracked
 CROSS JOIN (SELECT count(*) AS trades FROM trades) AS made
 CROSS JOIN (SELECT count(*) AS keys FROM api_keys) AS issued
