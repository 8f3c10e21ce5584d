-- How many days of a wallet's positions the rebuild has changed, of those wholly inside the horizon.
-- Needs position_rollup_pkey.
SELECT count(DISTINCT (ends_at, token_id)) AS changed
  FROM ((SELECT * FROM kept_days
         EXCEPT
         SELECT * FROM position_rollup WHERE wallet_id = %(wallet_id)s)
        UNION ALL
        (SELECT * FROM position_rollup WHERE wallet_id = %(wallet_id)s
         EXCEPT
         SELECT * FROM kept_days)) AS difference
 WHERE ends_at > %(horizon)s::timestamptz + interval '1 day'
