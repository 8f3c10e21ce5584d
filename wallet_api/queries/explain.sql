-- The walk over the trades of a position, oldest first: a page of its steps, and the position as it is in histories.
-- The page is walked from the last trade before it that left nothing, by the function that imports walk with.
-- Needs wallets_pkey, tokens_blockchain_mint_key, trades_pkey, and what wallet_positions.sql needs.
  WITH position AS MATERIALIZED (
       SELECT trades.*
         FROM tokens
         JOIN trades
           ON trades.token_id = tokens.token_id
          AND trades.wallet_id = %(wallet_id)s
        WHERE tokens.blockchain = %(blockchain)s
          AND tokens.mint = %(mint)s
       ),
       empty AS (
       (SELECT created_at,
               is_sell,
               tx_signature,
               event_index,
               peak_after
          FROM position
         WHERE quantity_after = 0
           AND (created_at, is_sell, tx_signature, event_index)
               <= (%(created_at)s::timestamptz, %(is_sell)s, %(tx_signature)s, %(event_index)s)
         ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC
         LIMIT 1)
        UNION ALL
       SELECT '-infinity', FALSE, '', -1, 0
        ORDER BY created_at DESC
        LIMIT 1
       ),
       walked AS (
       SELECT position.*,
              walk(ROW(0, 0, 0, 0, empty.peak_after, NULL, NULL, NULL, NULL, NULL, NULL)::walk_state,
                   position.is_sell, position.token_amount, position.value, position.value_usd,
                   extract(epoch FROM position.created_at), position.token_name) OVER trade_order AS state
         FROM position
         JOIN empty
           ON (position.created_at, position.is_sell, position.tx_signature, position.event_index)
              > (empty.created_at, empty.is_sell, empty.tx_signature, empty.event_index)
       WINDOW trade_order AS (ORDER BY position.created_at, position.is_sell, position.tx_signature,
                                       position.event_index
                               ROWS UNBOUNDED PRECEDING)
       ),
       page AS MATERIALIZED (
       SELECT walked.*,
              row_number() OVER (ORDER BY created_at, is_sell, tx_signature, event_index) AS place
         FROM walked
        WHERE (created_at, is_sell, tx_signature, event_index)
              > (%(created_at)s::timestamptz, %(is_sell)s, %(tx_signature)s, %(event_index)s)
        ORDER BY created_at, is_sell, tx_signature, event_index
        LIMIT %(limit)s::bigint + 1
       ),
       steps AS (
       SELECT place,
              iso_time(created_at) AS created_at,
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
              (SELECT round_half_up(usd, 18)
                 FROM latest) AS native_price_usd,
              (SELECT iso_time(priced_at)
                 FROM latest) AS native_price_at,
              (SELECT count(*)
                 FROM position) AS total,
              EXISTS (SELECT FROM page
                       WHERE page.place > %(limit)s::bigint) AS has_more,
              last.created_at,
              last.is_sell,
              last.tx_signature,
              last.event_index
         FROM wallets
         LEFT JOIN page AS last
           ON last.place = %(limit)s::bigint
        WHERE wallets.wallet_id = %(wallet_id)s
       )
SELECT head.*,
       steps.*,
       totals.*
  FROM head
  FULL JOIN steps
 USING (place)
  FULL JOIN totals
 USING (place)
 WHERE EXISTS (SELECT
                 FROM head)
 ORDER BY COALESCE(head.place, steps.place, totals.place)
