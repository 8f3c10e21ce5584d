-- A page of the tracked wallets of a group, by address, and how many there are in all.
-- Needs wallets_by_group, wallet_groups_pkey.
  WITH candidate AS (
       SELECT address,
              listed
         FROM wallets
        WHERE blockchain = %(blockchain)s
          AND type = %(type)s
          AND address > %(after)s
        ORDER BY address
        LIMIT %(limit)s::bigint + 1
       ),
       page AS (
       SELECT *
         FROM candidate
        ORDER BY address
        LIMIT %(limit)s::bigint
       )
SELECT COALESCE((SELECT wallet_count
                   FROM wallet_groups
                  WHERE blockchain = %(blockchain)s
                    AND type = %(type)s), 0) AS total,
       (SELECT count(*) > %(limit)s
          FROM candidate) AS has_more,
       max(address) AS last_address,
       COALESCE(json_agg(listed ORDER BY address), '[]')::text AS wallets
  FROM page
