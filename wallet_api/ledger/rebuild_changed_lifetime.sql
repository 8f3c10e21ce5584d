-- Whether the rebuild has changed a wallet's lifetime, as 1 or 0. Needs lifetimes_pkey.
SELECT count(DISTINCT wallet_id) AS changed
  FROM ((SELECT * FROM kept_lifetimes
         EXCEPT
         SELECT * FROM lifetimes WHERE wallet_id = %(wallet_id)s)
        UNION ALL
        (SELECT * FROM lifetimes WHERE wallet_id = %(wallet_id)s
         EXCEPT
         SELECT * FROM kept_lifetimes)) AS difference
