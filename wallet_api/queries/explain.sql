-- The walk over the trades of a position, oldest first: a page of its steps, and the position as it is in histories.
-- The page is walked from the last trade before it that left nothing, by the function that imports walk with.
-- Needs wallets_pkey, tokens_blockchain_mint_key, trades_pkey, and what wallet_positions.sql needs.
  WITH position AS MATERIALIZED (
       SELECT trades.*,
              row_number() OVER (ORDER BY
{ledger.trade_order: @}) AS ordinal,
              (
{ledger.trade_order: @})
              > (
{ledger.trade_order: %($)s}) AS is_after
         FROM trades
        WHERE wallet_id = %(wallet_id)s
          AND token_id = (SELECT token_id
                            FROM tokens
                           WHERE blockchain = %(blockchain)s
                             AND mint = %(mint)s)
       ),
       empty AS (
       (SELECT ordinal,
               peak_after
          FROM position
         WHERE quantity_after = 0
           AND NOT is_after
         ORDER BY ordinal DESC
         LIMIT 1)
        UNION ALL
       SELECT 0,
              0
        ORDER BY ordinal DESC
        LIMIT 1
       ),
       walked AS (
       SELECT position.*,
              walk(ROW(0, 0, 0, 0, empty.peak_after, NULL, NULL, NULL, NULL, NULL, NULL)::walk_state,
                   position.is_sell, position.token_amount, position.value, position.value_usd,
                   extract(epoch FROM position.created_at), position.token_name) OVER in_order AS state
         FROM position
         JOIN empty
           ON position.ordinal > empty.ordinal
       WINDOW in_order AS (ORDER BY position.ordinal
                            ROWS UNBOUNDED PRECEDING)
       ),
       page AS MATERIALIZED (
       SELECT walked.*,
              row_number() OVER (ORDER BY ordinal) AS place
         FROM walked
        WHERE is_after
        ORDER BY ordinal
        LIMIT %(limit)s::bigint + 1
       ),
       steps AS (
       SELECT place,
              iso_time(created_at) AS created_at,
              block,
              block_index,
              tx_signature,
              event_index,
              CASE WHEN is_sell THEN 'sell' ELSE 'buy' END AS transaction_type,
              round_half_up(token_amount, 18) AS token_amount,
              round_half_up(value, 9) AS value,
              round_half_up(value_usd, 4) AS value_usd,
              round_half_up((state).quantity, 18) AS quantity,
              round_half_up((state).cost, 9) AS cost,
              round_half_up((state).peak, 18) AS peak,
              CASE WHEN (state).quantity > 0
                   THEN iso_time('epoch'::timestamptz + make_interval(secs => (state).acquired_at::float8))
              END AS acquired_at,
              CASE WHEN NOT is_sell THEN 'a-buy'
                   WHEN (state).tokens_without_cost IS NULL THEN 'a-sell-of-what-was-bought'
                   WHEN (state).realized IS NULL THEN 'a-sell-without-a-buy'
                   ELSE 'a-sell-of-more-than-was-bought'
              END AS rule,
              CASE WHEN is_sell THEN round_half_up(token_amount - COALESCE((state).tokens_without_cost, 0), 18)
              END AS covered,
              round_half_up((state).realized_cost, 9) AS cost_of_sold,
              round_half_up((state).realized, 9) AS realized_pnl,
              round_half_up((state).realized_usd, 4) AS realized_pnl_usd,
              round_half_up((state).hold_seconds / 60, 2) AS hold_time_minutes,
              CASE WHEN is_sell
                   THEN round_half_up(value - COALESCE((state).realized + (state).realized_cost, 0), 9)
              END AS without_cost
         FROM page
        WHERE place <= %(limit)s::bigint
       ),
{wallet_positions},
       totals AS (
       SELECT 1 AS place,
{token_overview}
         FROM valued
        CROSS JOIN latest
{traded_usd}
        WHERE mint = %(mint)s
       ),
       head AS (
       SELECT 1 AS place,
{coin_price},
              (SELECT count(*)
                 FROM position) AS total,
              EXISTS (SELECT FROM page
                       WHERE page.place > %(limit)s::bigint) AS has_more,
              last.*
         FROM wallets
         LEFT JOIN (SELECT
{ledger.trade_order: @ AS $}
                      FROM page
                     WHERE place = %(limit)s::bigint) AS last
           ON TRUE
        WHERE wallets.wallet_id = %(wallet_id)s
       )
{lists: steps totals}
