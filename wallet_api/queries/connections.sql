-- The other wallets of a chain that traded tokens of one wallet, both within a window: its whole days, and the
-- trades themselves at its edges.
-- Needs wallets_blockchain_address_key, wallets_pkey, position_days_pkey, trades_by_time, positions_pkey, token_faces_pkey,
-- positions_by_token, trades_pkey.
  WITH wallet AS MATERIALIZED (
       SELECT wallet_id,
              type
         FROM wallets
        WHERE blockchain = %(blockchain)s
          AND address = %(address)s
          AND type = COALESCE(%(type)s, type)
       ),
       traded AS MATERIALIZED (
       SELECT position_days.wallet_id,
              position_days.token_id
         FROM wallet
         JOIN position_days
           ON position_days.wallet_id = wallet.wallet_id
          AND position_days.day >= %(first_day)s
          AND position_days.day < %(end_day)s
        UNION
       SELECT trades.wallet_id,
              trades.token_id
         FROM wallet
        CROSS JOIN unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS span (starts_at, ends_at)
         JOIN trades
           ON trades.wallet_id = wallet.wallet_id
          AND trades.created_at > span.starts_at
          AND trades.created_at <= span.ends_at
       ),
       -- All positions in these tokens. If the newest trade of one is later than now, use its newest one within the window.
       held AS MATERIALIZED (
       SELECT positions.wallet_id,
              positions.token_id,
              positions.mint,
              positions.token_name,
              CASE WHEN positions.last_seen <= %(now)s THEN positions.last_seen
                   ELSE (SELECT max(trades.created_at)
                           FROM trades
                          WHERE trades.wallet_id = positions.wallet_id
                            AND trades.token_id = positions.token_id
                            AND trades.created_at > %(since)s
                            AND trades.created_at <= %(now)s)
              END AS last_at
         FROM traded
         JOIN positions
           ON positions.token_id = traded.token_id
        WHERE positions.last_seen > %(since)s
       ),
       requested AS MATERIALIZED (
       SELECT held.*
         FROM held
         JOIN wallet
           ON wallet.wallet_id = held.wallet_id
       ),
       shared AS MATERIALIZED (
       SELECT held.*,
              row_number() OVER (PARTITION BY held.wallet_id ORDER BY last_at DESC, mint) AS place
         FROM held
        WHERE last_at IS NOT NULL
          AND held.wallet_id <> (SELECT wallet_id
                                   FROM wallet)
       ),
       connected AS MATERIALIZED (
       SELECT wallet_id,
              count(*) AS shared_tokens_count,
              max(last_at) AS last_shared_at
         FROM shared
        GROUP BY wallet_id
       ),
       shown AS MATERIALIZED (
       SELECT connected.wallet_id,
              shared_tokens_count,
              last_shared_at,
              address,
              name,
              image_url,
              twitter,
              telegram,
              copytrade_link,
              blockchain,
              type
         FROM connected
         JOIN wallets
           ON wallets.wallet_id = connected.wallet_id
        ORDER BY shared_tokens_count DESC, address
        LIMIT %(limit)s::bigint
       ),
       -- As text, since JSON functions take several times as long.
       listed AS MATERIALIZED (
       SELECT shown.wallet_id,
              string_agg('{"mint":' || to_json(shared.mint)
                         || ',"symbol":' || COALESCE(to_json(face.symbol)::text, 'null')
                         || ',"token_name":'
                         || to_json(COALESCE(requested.token_name, shared.token_name, face.name, ''))
                         || '}', ',' ORDER BY shared.place) AS tokens
         FROM shown
         JOIN shared
           ON shared.wallet_id = shown.wallet_id
          AND shared.place <= %(most_tokens)s::integer
         JOIN requested
           ON requested.token_id = shared.token_id
         LEFT JOIN token_faces AS face
           ON face.token_id = shared.token_id
        GROUP BY shown.wallet_id
       ),
       connections AS (
       SELECT shown.shared_tokens_count,
              shown.address,
              '{"wallet_address":' || to_json(shown.address)
              || ',"profile":' || profile
              || ',"shared_tokens_count":' || shown.shared_tokens_count
              || ',"overlap_score":' || round_half_up(quotient(shown.shared_tokens_count, (SELECT count(*)
                                                                                             FROM requested)), 4)
              || ',"shared_tokens":[' || listed.tokens
              || '],"last_shared_at":"' || iso_time(shown.last_shared_at)
              || '"}' AS entry
         FROM (SELECT shown.*,
{profile}
                 FROM shown) AS shown
         JOIN listed
           ON listed.wallet_id = shown.wallet_id
       )
SELECT wallet.type,
       (SELECT count(*)
          FROM requested) AS token_count,
       (SELECT count(*)
          FROM connected) AS total,
       (SELECT '[' || COALESCE(string_agg(entry, ',' ORDER BY shared_tokens_count DESC, address), '') || ']'
          FROM connections) AS connections
  FROM wallet
