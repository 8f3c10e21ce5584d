-- A page of the tracked wallets of a group, by address, and how many there are in all.
-- Needs wallets_by_group, wallet_groups_pkey.
  WITH page AS (
       SELECT max(address) AS last_address,
              COALESCE(json_agg(listed ORDER BY address), '[]')::text AS wallets
         FROM (SELECT address,
                      listed
                 FROM wallets
                WHERE blockchain = %(blockchain)s
                  AND type = %(type)s
                  AND address > %(after)s
                ORDER BY address
                LIMIT %(limit)s::bigint) AS candidate
       )
SELECT COALESCE((SELECT wallet_count
                   FROM wallet_groups
                  WHERE blockchain = %(blockchain)s
                    AND type = %(type)s), 0) AS total,
       EXISTS (SELECT FROM wallets
                WHERE blockchain = %(blockchain)s
                  AND type = %(type)s
                  AND address > last_address) AS has_more,
       last_address,
       wallets
  FROM page
