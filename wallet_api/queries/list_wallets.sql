-- A page of the tracked wallets of a group, by address, and how many the group has in all.
-- Needs wallets_by_group, wallet_groups_pkey.
  WITH page AS (
       SELECT address AS wallet_address,
              name,
              image_url,
              twitter,
              telegram,
              copytrade_link,
              blockchain,
              type,
              %(currency)s::text AS currency
         FROM wallets
        WHERE blockchain = %(blockchain)s
          AND type = %(type)s
          AND address > %(after)s
        ORDER BY address
        LIMIT %(limit)s::bigint
       ),
       listed AS (
       SELECT max(wallet_address) AS last_address,
              COALESCE(json_agg(row_to_json(page)), '[]')::text AS wallets
         FROM page
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
  FROM listed
