-- What a group put into some tokens and took out of them in four windows that end now. A wallet is new where it bought a token
-- for the first time.
-- Whole days that are in the longest window alone are read from position_days, the rest from the trades.
-- Needs wallets_by_group, position_days_pkey, trades_by_token, positions_pkey, tokens_pkey, token_faces_pkey, native_prices_pkey,
-- and what token_name.sql needs.
  WITH
{latest_price},
{group_wallets},
       wanted AS MATERIALIZED (
       SELECT token_id,
              mint
         FROM tokens
        WHERE token_id = ANY (%(token_ids)s::bigint[])
       ),
{token_name},
       -- What the group did in these tokens in each window, but for what is in a shorter one.
       piece AS MATERIALIZED (
       SELECT position_days.token_id,
              position_days.wallet_id,
              4 AS place,
{ledger.sums: $}
         FROM position_days
        WHERE position_days.day >= %(first_day)s
          AND position_days.day < %(end_day)s
          -- Arrays, so that the index alone gives the rows of these wallets and tokens.
          AND position_days.wallet_id = ANY (ARRAY(SELECT wallet_id
                                                     FROM tracked))
          AND position_days.token_id = ANY (ARRAY(SELECT token_id
                                                    FROM wanted))
        UNION ALL
       SELECT within.*
         FROM wanted
        CROSS JOIN unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS span (starts_at, ends_at)
        -- Summed in the subquery, so that each token's trades are read by themselves.
        CROSS JOIN LATERAL (
              SELECT trades.token_id,
                     trades.wallet_id,
                     CASE WHEN created_at > %(first_since)s THEN 1
                          WHEN created_at > %(second_since)s THEN 2
                          WHEN created_at > %(third_since)s THEN 3
                          ELSE 4
                     END AS place,
{ledger.sums}
                FROM trades
                JOIN tracked
                  ON tracked.wallet_id = trades.wallet_id
               WHERE trades.token_id = wanted.token_id
                 AND created_at > span.starts_at
                 AND created_at <= span.ends_at
               GROUP BY trades.wallet_id, trades.token_id, place) AS within
       ),
       -- Each piece counts in its window and all longer ones.
       position AS (
       SELECT piece.token_id,
              piece.wallet_id,
              span.place,
{ledger.sums: sum($) AS $}
         FROM piece
         JOIN generate_series(1, 4) AS span (place)
           ON span.place >= piece.place
        GROUP BY piece.token_id, piece.wallet_id, span.place
       ),
       summed AS (
       SELECT position.token_id,
              position.place,
{ledger.sums: sum(position.$) AS $},
              count(*) FILTER (WHERE position.buy_txn > 0) AS buyers,
              count(*) FILTER (WHERE position.sell_txn > 0) AS sellers,
              count(*) AS wallet_count,
              count(*) FILTER (WHERE positions.first_buy <= %(now)s
                                 AND positions.first_buy > CASE position.place WHEN 1 THEN %(first_since)s
                                                                               WHEN 2 THEN %(second_since)s
                                                                               WHEN 3 THEN %(third_since)s
                                                                               ELSE %(fourth_since)s
                                                           END) AS new_wallets
         FROM position
         JOIN positions
           ON positions.wallet_id = position.wallet_id
          AND positions.token_id = position.token_id
        GROUP BY position.token_id, position.place
       ),
       flow AS MATERIALIZED (
       SELECT token_id,
              place,
{bought_and_sold},
              round_half_up(invested - sold, 9) AS net_flow,
              traded.net_flow_usd,
              buyers,
              sellers,
              wallet_count,
              new_wallets
         FROM summed
        CROSS JOIN latest
{traded_usd}
       )
SELECT wanted.mint,
       face.symbol,
       COALESCE(token_name.token_name, face.name, '') AS token_name,
       flow.*
  FROM wanted
  JOIN flow
    ON flow.token_id = wanted.token_id
  LEFT JOIN token_name
    ON token_name.token_id = wanted.token_id
  LEFT JOIN token_faces AS face
    ON face.token_id = wanted.token_id
 ORDER BY wanted.token_id, flow.place
