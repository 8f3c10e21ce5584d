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
       requested AS MATERIALIZED (
       SELECT positions.wallet_id,
              positions.token_id,
              positions.mint,
              positions.token_name
         FROM traded
         JOIN positions
           ON positions.wallet_id = traded.wallet_id
          AND positions.token_id = traded.token_id
       ),
       -- If the newest trade of a position is later than now, use its newest one within the window.
       shared AS MATERIALIZED (
       SELECT positions.wallet_id,
              requested.mint,
              COALESCE(to_json(face.symbol)::text, 'null') AS symbol,
              COALESCE(requested.token_name, positions.token_name, face.name, '') AS token_name,
              CASE WHEN positions.last_seen <= %(now)s THEN positions.last_seen
                   ELSE (SELECT max(trades.created_at)
                           FROM trades
                          WHERE trades.wallet_id = positions.wallet_id
                            AND trades.token_id = positions.token_id
                            AND trades.created_at > %(since)s
                            AND trades.created_at <= %(now)s)
              END AS last_at
         FROM requested
         JOIN positions
           ON positions.token_id = requested.token_id
          AND positions.wallet_id <> requested.wallet_id
         LEFT JOIN token_faces AS face
           ON face.token_id = requested.token_id
        WHERE positions.last_seen > %(since)s
       ),
       -- As text, since JSON functions take several times as long.
       connected AS MATERIALIZED (
       SELECT wallet_id,
              count(*) AS shared_tokens_count,
              max(last_at) AS last_shared_at,
              array_agg('{"mint":' || to_json(mint) || ',"symbol":' || symbol
                        || ',"token_name":' || to_json(token_name) || '}'
                        ORDER BY last_at DESC, mint) AS tokens
         FROM shared
        WHERE last_at IS NOT NULL
        GROUP BY wallet_id
       ),
       shown AS MATERIALIZED (
       SELECT connected.wallet_id,
              shared_tokens_count,
              last_shared_at,
              tokens,
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
       connections AS (
       SELECT shown.shared_tokens_count,
              shown.address,
              '{"wallet_address":' || to_json(shown.address)
              || ',"profile":' || profile
              || ',"shared_tokens_count":' || shown.shared_tokens_count
              || ',"overlap_score":' || round_half_up(quotient(shown.shared_tokens_count, (SELECT count(*)
                                                                                             FROM requested)), 4)
              || ',"shared_tokens":[' || array_to_string(shown.tokens[:%(most_tokens)s::integer], ',')
              || '],"last_shared_at":"' || iso_time(shown.last_shared_at)
              || '"}' AS entry
         FROM (SELECT shown.*,
{profile}
                 FROM shown) AS shown
       )
SELECT wallet.type,
       (SELECT count(*)
          FROM requested) AS token_count,
       (SELECT count(*)
          FROM connected) AS total,
       (SELECT '[' || COALESCE(string_agg(entry, ',' ORDER BY shared_tokens_count DESC, address), '') || ']'
          FROM connections) AS connections
  FROM wallet
