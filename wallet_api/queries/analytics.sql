-- The tokens that most wallets of a group traded in a period. On whole days wallets are counted by the key of position_days alone, and
-- the sums of the tokens that may be shown are read from token_days; the rest is read from the trades.
-- Needs wallets_by_group, position_days_pkey, token_days_pkey, tokens_pkey, token_faces_pkey, native_prices_pkey, and
-- what whole_days.sql, edge_trades.sql, token_name.sql and token_price.sql need.
  WITH
{latest_price},
{group_wallets},
{whole_days},
       edge AS MATERIALIZED (
       SELECT within.wallet_id,
              within.token_id,
{ledger.token_days: within.$}
{edge_trades}
       ),
       counted AS MATERIALIZED (
       SELECT token_id,
              count(DISTINCT wallet_id) AS wallet_count
         FROM (SELECT wallet_id,
                      token_id
                 FROM position_days
                -- An array, so that the days of each wallet are found by the key, and none of other groups is read.
                WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                               FROM tracked))
                  AND day >= %(first_day)s
                  AND day < (SELECT end_day
                               FROM whole)
                UNION ALL
               SELECT wallet_id,
                      token_id
                 FROM edge) AS traded
        GROUP BY token_id
       ),
       -- Those of at least as many wallets as the last one that is shown.
       candidate AS MATERIALIZED (
       SELECT token_id,
              wallet_count
         FROM counted
        WHERE wallet_count >= (SELECT min(wallet_count)
                                 FROM (SELECT wallet_count
                                         FROM counted
                                        ORDER BY wallet_count DESC
                                        LIMIT %(limit)s::bigint) AS first)
       ),
       summed AS (
       SELECT token_id,
              wallet_count,
              sum(buy_txn) AS buy_txn,
              sum(sell_txn) AS sell_txn,
              sum(buys_without_usd + sells_without_usd) AS txn_without_usd,
              round_half_up(sum(invested + sold), 9) AS volume,
              sum(invested_usd + sold_usd) AS volume_usd,
              sum(invested_without_usd + sold_without_usd) AS volume_without_usd,
              sum(realized) AS realized,
              sum(realized_usd) AS realized_usd,
              sum(covered_without_usd) AS covered_without_usd
         FROM candidate
         JOIN (SELECT token_id,
{ledger.token_days: $}
                 FROM token_days
                WHERE day >= %(first_day)s
                  AND day < (SELECT end_day
                               FROM whole)
                  AND token_id = ANY (ARRAY(SELECT token_id
                                              FROM candidate))
                  AND type = ANY (%(types)s::text[])
                UNION ALL
               SELECT token_id,
{ledger.token_days: $}
                 FROM edge) AS piece
        USING (token_id)
        GROUP BY token_id, wallet_count
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
       shown AS (
       SELECT row_number() OVER (ORDER BY wallet_count DESC, wanted.volume DESC, wanted.mint) AS place,
              wanted.mint,
              face.symbol,
              COALESCE(token_name.token_name, face.name, '') AS token_name,
              wallet_count,
              buy_txn,
              sell_txn,
              buy_txn + sell_txn AS total_txn,
              wanted.volume,
              -- A trade without a dollar value counts with the latest native price.
              round_half_up(dollars(volume_usd, volume_without_usd, buy_txn + sell_txn, txn_without_usd,
                                    latest.usd), 4) AS volume_usd,
              round_half_up(realized, 9) AS realized_pnl,
              CASE WHEN covered_without_usd = 0 THEN round_half_up(realized_usd, 4) END AS realized_pnl_usd,
              round_price(token_price.price) AS price
         FROM wanted
        CROSS JOIN latest
         LEFT JOIN token_name
           ON token_name.token_id = wanted.token_id
         LEFT JOIN token_faces AS face
           ON face.token_id = wanted.token_id
         LEFT JOIN token_price
           ON token_price.token_id = wanted.token_id
       ),
       head AS (
       SELECT 1 AS place,
              (SELECT count(*)
                 FROM counted) AS total,
{coin_price}
       )
{lists: shown}
