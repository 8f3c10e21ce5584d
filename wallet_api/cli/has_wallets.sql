-- Whether any wallet is tracked.
SELECT EXISTS (SELECT FROM wallets) AS found
