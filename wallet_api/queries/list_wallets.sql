-- A page of the tracked wallets of a group, by address, over what time a sync has read their trades, and how many the group has
-- in all: a head, and a list. Needs wallets_by_group, wallet_groups_pkey, sync_wallets_pkey, sync_chains_pkey.
  WITH page AS (
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
         FROM wallets
         LEFT JOIN sync_wallets AS state
           ON state.wallet_id = wallets.wallet_id
         LEFT JOIN sync_chains AS chain
           ON chain.blockchain = wallets.blockchain
          AND state.is_with_chain
        WHERE wallets.blockchain = %(blockchain)s
          AND type = %(type)s
          AND address > %(after)s
        ORDER BY address
        LIMIT %(limit)s::bigint
       ),
       head AS (
       SELECT 1 AS place,
              COALESCE((SELECT wallet_count
                          FROM wallet_groups
                         WHERE blockchain = %(blockchain)s
                           AND type = %(type)s), 0) AS total,
              EXISTS (SELECT FROM wallets
                       WHERE blockchain = %(blockchain)s
                         AND type = %(type)s
                         AND address > (SELECT max(wallet_address)
                                          FROM page)) AS has_more
       )
SELECT head.*,
       page.*
  FROM head
  FULL JOIN page
 USING (place)
 ORDER BY page.place
