-- A page of the tracked wallets of a group, by address, and how many there are in all.
-- Needs wallets_by_group, wallet_groups_pkey.
  WITH candidate AS (
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
        LIMIT %(limit)s::bigint + 1
       ),
       page AS (
       SELECT *
         FROM candidate
        ORDER BY wallet_address
        LIMIT %(limit)s::bigint
       )
SELECT COALESCE((SELECT wallet_count
                   FROM wallet_groups
                  WHERE blockchain = %(blockchain)s
                    AND type = %(type)s), 0) AS total,
       (SELECT count(*) > %(limit)s
          FROM candidate) AS has_more,
       max(wallet_address) AS last_address,
       -- Of whole rows: to build each object from its parts would take twice as long.
       COALESCE(json_agg(row_to_json(page) ORDER BY wallet_address), '[]')::text AS wallets
  FROM page
