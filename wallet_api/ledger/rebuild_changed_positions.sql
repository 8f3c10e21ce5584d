-- How many of a wallet's positions the rebuild has changed. Needs positions_pkey.
SELECT count(DISTINCT token_id) AS changed
  FROM ((SELECT * FROM kept_positions
         EXCEPT
         SELECT * FROM positions WHERE wallet_id = %(wallet_id)s)
        UNION ALL
        (SELECT * FROM positions WHERE wallet_id = %(wallet_id)s
         EXCEPT
         SELECT * FROM kept_positions)) AS difference
