-- The tokens that most wallets of a group traded in a period. Whole days of the period are read from
-- position_days, the rest from the trades.
-- Needs wallets_by_group, position_days_pkey, trades_by_time, tokens_pkey, token_faces_pkey, native_prices_pkey, and what
-- token_name.sql and token_price.sql need.
  WITH
{latest_price},
{group_wallets},
       piece AS (
       SELECT position_days.token_id,
              position_days.wallet_id,
              buy_txn,
              sell_txn,
              buys_without_usd + sells_without_usd AS unpriced_txn,
              invested + sold AS volume,
              invested_usd + sold_usd AS volume_usd,
              invested_without_usd + sold_without_usd AS unpriced_volume,
              realized
         FROM tracked
         JOIN position_days
           ON position_days.wallet_id = tracked.wallet_id
          AND position_days.day >= %(first_day)s
          AND position_days.day < %(end_day)s
        UNION ALL
       SELECT within.*
         FROM tracked
        CROSS JOIN unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS span (starts_at, ends_at)
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     count(*) FILTER (WHERE NOT is_sell),
                     count(*) FILTER (WHERE is_sell),
                     count(*) FILTER (WHERE value_usd IS NULL),
                     sum(value),
                     COALESCE(sum(value_usd), 0),
                     COALESCE(sum(value) FILTER (WHERE value_usd IS NULL), 0),
                     COALESCE(sum(realized), 0)
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > span.starts_at
                 AND created_at <= span.ends_at
               GROUP BY wallet_id, token_id) AS within
       ),
       position AS (
       SELECT token_id,
              wallet_id,
              sum(buy_txn) AS buy_txn,
              sum(sell_txn) AS sell_txn,
              sum(unpriced_txn) AS unpriced_txn,
              sum(volume) AS volume,
              sum(volume_usd) AS volume_usd,
              sum(unpriced_volume) AS unpriced_volume,
              sum(realized) AS realized
         FROM piece
        GROUP BY token_id, wallet_id
       HAVING sum(buy_txn) + sum(sell_txn) > 0
       ),
       summed AS (
       SELECT token_id,
              count(*) AS wallet_count,
              sum(buy_txn) AS buy_txn,
              sum(sell_txn) AS sell_txn,
              sum(unpriced_txn) AS unpriced_txn,
              round_half_up(sum(volume), 9) AS volume,
              sum(volume_usd) AS volume_usd,
              sum(unpriced_volume) AS unpriced_volume,
              sum(realized) AS realized
         FROM position
        GROUP BY token_id
       ),
       wanted AS MATERIALIZED (
       SELECT summed.*,
              tokens.mint
         FROM summed
         JOIN tokens
           ON tokens.token_id = summed.token_id
        ORDER BY wallet_count DESC, volume DESC, mint
        LIMIT %(limit)s::bigint
       ),
{token_name},
{token_price},
       -- json_strip_nulls leaves out dollars that are unknown, and would leave out symbol and price: they are appended.
       shown AS (
       SELECT wallet_count,
              wanted.volume,
              mint,
              (SELECT rtrim(json_strip_nulls(row_to_json(figures))::text, '}')
                 FROM (SELECT wanted.mint,
                              COALESCE(token_name.token_name, face.name, '') AS token_name,
                              wallet_count,
                              buy_txn,
                              sell_txn,
                              buy_txn + sell_txn AS total_txn,
                              wanted.volume,
                              -- A trade without a dollar value counts with the latest native price.
                              round_half_up(dollars(volume_usd, unpriced_volume, buy_txn + sell_txn, unpriced_txn,
                                                    latest.usd), 4) AS volume_usd,
                              round_half_up(realized, 9) AS realized_pnl) AS figures)
                  || ',"symbol":'
                  || COALESCE(to_json(face.symbol)::text, 'null')
                  || ',"price":'
                  || COALESCE(round_half_up(token_price.price, 18)::text, 'null')
                  || '}' AS entry
         FROM wanted
        CROSS JOIN latest
         LEFT JOIN token_name
           ON token_name.token_id = wanted.token_id
         LEFT JOIN token_faces AS face
           ON face.token_id = wanted.token_id
         LEFT JOIN token_price
           ON token_price.token_id = wanted.token_id
       )
SELECT ARRAY(SELECT entry
               FROM shown
              ORDER BY wallet_count DESC, volume DESC, mint) AS tokens,
       ARRAY(SELECT token_id
               FROM newest_trade
              WHERE NOT makes_price) AS unpriced_ids
