-- The other wallets of a chain that traded tokens of one wallet, both within a window: its whole days, and the
-- trades themselves at its edges.
-- Needs wallets_pkey, wallets_by_group, position_days_pkey, trades_by_time, positions_pkey, token_faces_pkey,
-- positions_by_token, trades_pkey.
  WITH wallet AS MATERIALIZED (
       SELECT wallet_id,
              type
         FROM wallets
        WHERE wallet_id = %(wallet_id)s
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
       -- Other positions in these tokens. If the newest trade of one is later than now, use its newest one within the window.
       held AS MATERIALIZED (
       SELECT positions.wallet_id,
              positions.token_id,
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
          AND positions.wallet_id <> traded.wallet_id
        WHERE positions.last_seen > %(since)s
       ),
       connected AS MATERIALIZED (
       SELECT wallet_id,
              count(*) AS shared_tokens_count,
              max(last_at) AS last_shared_at
         FROM held
        WHERE last_at IS NOT NULL
          AND (%(types)s::text[] IS NULL
               OR wallet_id IN (SELECT wallet_id
                                  FROM wallets
                                 WHERE blockchain = %(blockchain)s
                                   AND type = ANY(%(types)s::text[])))
        GROUP BY wallet_id
       ),
       ranked AS MATERIALIZED (
       SELECT row_number() OVER (ORDER BY shared_tokens_count DESC, address) AS ordinal,
              shared_tokens_count,
              last_shared_at,
              wallets.*
         FROM connected
         JOIN wallets
           ON wallets.wallet_id = connected.wallet_id
       ),
       shown AS MATERIALIZED (
       SELECT *
         FROM ranked
        WHERE (-shared_tokens_count, address) > (-%(shared)s::bigint, %(after)s::text)
        ORDER BY ordinal
        LIMIT %(limit)s::bigint
       ),
       -- Sorted here once, instead of in each wallet's list.
       token AS MATERIALIZED (
       SELECT positions.token_id,
              row_number() OVER (ORDER BY positions.mint) AS place,
              positions.mint,
              face.symbol,
              positions.token_name,
              face.name AS face_name
         FROM wallet
        CROSS JOIN (SELECT DISTINCT token_id FROM held) AS common
         JOIN positions
           ON positions.wallet_id = wallet.wallet_id
          AND positions.token_id = common.token_id
         LEFT JOIN token_faces AS face
           ON face.token_id = common.token_id
       ),
       shared AS (
       SELECT shown.ordinal,
              token.mint,
              token.symbol,
              COALESCE(token.token_name, held.token_name, face_name, '') AS token_name,
              row_number() OVER (PARTITION BY shown.ordinal ORDER BY last_at DESC, token.place) AS place_of_token
         FROM shown
         JOIN held
           ON held.wallet_id = shown.wallet_id
          AND held.last_at IS NOT NULL
         JOIN token
           ON token.token_id = held.token_id
       ),
       shared_token AS MATERIALIZED (
       SELECT ordinal,
              array_agg(mint ORDER BY place_of_token) AS shared_token_mint,
              array_agg(symbol ORDER BY place_of_token) AS shared_token_symbol,
              array_agg(token_name ORDER BY place_of_token) AS shared_token_token_name
         FROM shared
        WHERE place_of_token <= %(most_tokens)s::integer
        GROUP BY ordinal
       ),
       connections AS (
       SELECT shown.ordinal AS place,
              address AS wallet_address,
{profile},
              shared_tokens_count,
              round_half_up(quotient(shared_tokens_count, (SELECT count(*)
                                                             FROM traded)), 4) AS overlap_score,
              iso_time(last_shared_at) AS last_shared_at,
              shared_token_mint,
              shared_token_symbol,
              shared_token_token_name
         FROM shown
         JOIN shared_token
           ON shared_token.ordinal = shown.ordinal
       ),
       head AS (
       SELECT 1 AS place,
              wallet.type,
              (SELECT count(*)
                 FROM traded) AS token_count,
              (SELECT count(*)
                 FROM connected) AS total,
              (SELECT count(*)
                 FROM connected) > (SELECT max(ordinal)
                                      FROM shown) AS has_more
         FROM wallet
       )
{lists: connections}
