-- The tokens that most wallets of a group traded in a period.
-- Needs wallets_by_group, tokens_pkey, token_faces_pkey, native_prices_pkey, and what period_positions.sql, token_name.sql and
-- token_price.sql need.
  WITH
{latest_price},
{group_wallets},
{period_positions},
       summed AS (
       SELECT token_id,
              count(DISTINCT wallet_id) AS wallet_count,
              sum(buy_txn) AS buy_txn,
              sum(sell_txn) AS sell_txn,
              sum(buys_without_usd + sells_without_usd) AS txn_without_usd,
              round_half_up(sum(invested + sold), 9) AS volume,
              sum(invested_usd + sold_usd) AS volume_usd,
              sum(invested_without_usd + sold_without_usd) AS volume_without_usd,
              sum(realized) AS realized,
              sum(realized_usd) AS realized_usd,
              sum(covered_without_usd) AS covered_without_usd
         FROM piece
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
                 FROM summed) AS total,
{coin_price}
       )
{lists: shown}
