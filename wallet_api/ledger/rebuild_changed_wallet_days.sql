-- How many of a wallet's days the rebuild has changed. Needs wallet_days_pkey.
SELECT count(DISTINCT day) AS changed
  FROM ((SELECT * FROM kept_wallet_days
         EXCEPT
         SELECT * FROM wallet_days WHERE wallet_id = %(wallet_id)s)
        UNION ALL
        (SELECT * FROM wallet_days WHERE wallet_id = %(wallet_id)s
         EXCEPT
         SELECT * FROM kept_wallet_days)) AS difference
