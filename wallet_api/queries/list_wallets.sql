-- A page of the tracked wallets of a group, by address, over what time a sync has read their trades, and how many the group has
-- in all: a head, and a list. Needs wallets_by_group, wallet_groups_pkey, sync_wallets_pkey, sync_chains_pkey.
  WITH near AS (
       SELECT of_type.*
         FROM unnest(%(types)s::text[]) AS tracked (type)
        -- The first ones of each type, by the index.
        CROSS JOIN LATERAL (
              SELECT *
                FROM wallets
               WHERE blockchain = %(blockchain)s
                 AND type = tracked.type
                 AND address > %(after)s
               ORDER BY address
               LIMIT %(limit)s::bigint + 1) AS of_type
       ),
       shown AS (
       SELECT row_number() OVER (ORDER BY address) AS place,
              address AS wallet_address,
              name,
              image_url,
              twitter,
              telegram,
              copytrade_link,
              wallets.blockchain,
              type,
              %(currency)s::text AS currency,
              {ledger.history_span}
         FROM near AS wallets
{ledger.sync_state}
        ORDER BY address
        LIMIT %(limit)s::bigint
       ),
       head AS (
       SELECT 1 AS place,
              COALESCE((SELECT sum(wallet_count)
                          FROM wallet_groups
                         WHERE blockchain = %(blockchain)s
                           AND type = ANY (%(types)s::text[])), 0)::bigint AS total,
              (SELECT count(*)
                 FROM near) > %(limit)s::bigint AS has_more
       )
{lists: shown}
