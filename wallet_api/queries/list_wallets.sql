-- A page of the tracked wallets of a group, by address, and how many there are in all.
-- Needs wallets_by_group.
  WITH page AS (
       SELECT address AS wallet_address,
              name,
              image_url,
              twitter,
              telegram,
              copytrade_link,
              blockchain,
              type,
              %(currency)s::text AS currency,
              row_number() OVER (ORDER BY address) AS place
         FROM wallets
        WHERE blockchain = %(blockchain)s
          AND type = %(type)s
          AND address > %(after)s
        ORDER BY address
        LIMIT %(limit)s::bigint + 1
       )
SELECT (SELECT count(*)
          FROM wallets
         WHERE blockchain = %(blockchain)s
           AND type = %(type)s) AS total,
       count(*) > %(limit)s AS has_more,
       max(wallet_address) FILTER (WHERE place <= %(limit)s) AS last_address,
       COALESCE(json_agg(json_build_object(
           'wallet_address', wallet_address,
           'name', name,
           'image_url', image_url,
           'twitter', twitter,
           'telegram', telegram,
           'copytrade_link', copytrade_link,
           'blockchain', blockchain,
           'type', type,
           'currency', currency) ORDER BY place) FILTER (WHERE place <= %(limit)s IS NOT FALSE), '[]')::text
           AS wallets
  FROM page
