-- A wallet's lifetime record as the head, then a page of its trades, newest first, and its tokens, all in one snapshot.
-- The newest trades are read in the order of the index alone, with ties, so that any plan reads few more than the page
-- has; the rest of the order is applied to these. With `of_mint`, all trades of its position are read, and the overview has
-- this position alone.
-- Needs positions_pkey, lifetimes_pkey, trades_by_time, trades_pkey, tokens_pkey, tokens_blockchain_mint_key,
-- token_faces_pkey, final_blocks_pkey, and what token_price.sql needs.
  WITH trade AS NOT MATERIALIZED (
       -- Only what a page shows: to copy the whole rows from step to step takes longer than to read them.
       SELECT token_id,
              token_name,
              created_at,
              block,
              block_index,
              is_sell,
              tx_signature,
              event_index,
              token_amount,
              value,
              value_usd,
              exchanged_value,
              realized,
              realized_usd,
              realized_cost
         FROM trades
        WHERE wallet_id = %(wallet_id)s
       ),
       of_token AS MATERIALIZED (
       SELECT *
         FROM trade
        WHERE token_id = (SELECT token_id
                            FROM tokens
                           WHERE blockchain = %(blockchain)s
                             AND mint = %(of_mint)s::text)
       ),
       newest AS (
       (SELECT *
          FROM trade
         WHERE %(of_mint)s::text IS NULL
           AND created_at >= %(since)s::timestamptz
           AND created_at <= %(created_at)s::timestamptz
           AND (
{ledger.trade_order: @},
                (SELECT mint
                   FROM tokens
                  WHERE tokens.token_id = trade.token_id))
               < (
{ledger.trade_order: %($)s},
                  %(mint)s)
         ORDER BY created_at DESC
         FETCH FIRST (%(limit)s::bigint + 1) ROWS WITH TIES)
        UNION ALL
       (SELECT *
          FROM of_token
         WHERE created_at >= %(since)s::timestamptz
           AND (
{ledger.trade_order: @},
                %(of_mint)s::text COLLATE "C")
               < (
{ledger.trade_order: %($)s},
                  %(mint)s)
         ORDER BY created_at DESC
         FETCH FIRST (%(limit)s::bigint + 1) ROWS WITH TIES)
       ),
       token AS (
       SELECT tokens.token_id,
              tokens.mint,
              -- Positions may be missing between an interrupted restore and the rebuild.
              COALESCE(positions.token_name, face.name) AS name,
              face.symbol
         FROM tokens
         LEFT JOIN positions
           ON positions.wallet_id = %(wallet_id)s
          AND positions.token_id = tokens.token_id
         LEFT JOIN token_faces AS face
           ON face.token_id = tokens.token_id
        WHERE tokens.token_id = ANY (ARRAY(SELECT token_id
                                             FROM newest))
       ),
       named AS (
       SELECT newest.*,
              token.mint,
              COALESCE(newest.token_name, token.name, '') AS shown_name,
              token.symbol
         FROM newest
         -- A full join never compares each trade with each token, whatever the plan. The condition below prevents
         -- the planner from turning it into a left join.
         FULL JOIN token
           ON token.token_id = newest.token_id
        WHERE num_nulls(newest.token_id) = 0
       ),
       candidate AS (
       SELECT *,
              row_number() OVER (ORDER BY
{ledger.trade_order: @ DESC},
                                          mint DESC) AS ordinal
         FROM named
       ),
       page AS (
       SELECT ordinal AS place,
{trade_facts},
              mint,
              symbol,
              shown_name AS token_name,
              round_half_up(value, 9) AS value,
              round_half_up(value_usd, 4) AS value_usd,
              %(currency)s::text AS currency
         FROM candidate
         LEFT JOIN (SELECT number AS final_block
                      FROM final_blocks
                     WHERE blockchain = %(blockchain)s) AS finality
           ON TRUE
        WHERE ordinal <= %(limit)s
       ),
{wallet_positions},
       overview AS (
       SELECT row_number() OVER (ORDER BY last_seen DESC, mint) AS place,
{token_overview}
         FROM valued
        CROSS JOIN latest
{traded_usd}
        WHERE %(overview)s
          AND mint = COALESCE(%(of_mint)s::text, mint)
       ),
       worth AS (
       SELECT sum(unrealized) AS unrealized,
              count(unrealized) FILTER (WHERE still_held(quantity, peak)) AS priced,
              -- What is not held has no cost.
              COALESCE(sum(cost) FILTER (WHERE unrealized IS NULL), 0) AS unpriced_cost,
              CASE WHEN count(*) FILTER (WHERE unrealized IS NULL AND cost_usd IS NULL) = 0
                   THEN COALESCE(sum(cost_usd) FILTER (WHERE unrealized IS NULL), 0)
              END AS unpriced_cost_usd
         FROM valued
       ),
       profile AS (
       SELECT
{profile}
         FROM wallets
        WHERE wallet_id = %(wallet_id)s
       ),
       lifetime AS (
       SELECT *,
              above_500 + above_100_to_500 + above_zero_to_100 AS won,
              above_500 + above_100_to_500 + above_zero_to_100 + below_zero AS closed,
              sold_above_500 + sold_above_100_to_500 + sold_above_zero_to_100 AS sold_won,
              sold_above_500 + sold_above_100_to_500 + sold_above_zero_to_100 + sold_below_zero AS sold_count
         FROM lifetimes
        WHERE wallet_id = %(wallet_id)s
       ),
       stats AS (
       SELECT
{bought_and_sold: @ AS lifetime_stats_$},
{profit: @ AS lifetime_stats_$},
{fees: @ AS lifetime_stats_$},
              buy_txn AS lifetime_stats_buy_txn,
              sell_txn AS lifetime_stats_sell_txn,
              buy_txn + sell_txn AS lifetime_stats_total_tx_count,
              percentage(won, closed) AS lifetime_stats_win_rate,
              won AS lifetime_stats_win_count,
              closed AS lifetime_stats_total_sold,
              percentage(sold_won, sold_count) AS lifetime_stats_sold_win_rate,
              sold_won AS lifetime_stats_sold_win_count,
              sold_count AS lifetime_stats_sold_count,
              lifetime.tokens AS lifetime_stats_active_tokens_count,
              round_half_up(COALESCE(largest_buy, 0), 9) AS lifetime_stats_largest_buy,
              round_half_up(COALESCE(best_trade, 0), 9) AS lifetime_stats_best_trade_pnl,
              round_half_up(COALESCE(worst_trade, 0), 9) AS lifetime_stats_worst_trade_pnl,
              still_holding AS lifetime_stats_still_holding_count,
              round_half_up(worth.unrealized, 9) AS lifetime_stats_unrealized_pnl,
              round_half_up(worth.unrealized * latest.usd, 4) AS lifetime_stats_unrealized_pnl_usd,
              worth.priced AS lifetime_stats_priced_tokens_count,
              round_half_up(open_cost, 9) AS lifetime_stats_open_cost,
              CASE WHEN open_without_usd = 0 THEN round_half_up(open_cost_usd, 4) END AS lifetime_stats_open_cost_usd,
              round_half_up(worth.unpriced_cost, 9) AS lifetime_stats_unpriced_cost,
              round_half_up(worth.unpriced_cost_usd, 4) AS lifetime_stats_unpriced_cost_usd,
              above_500 AS win_rate_distribution_above_500,
              above_100_to_500 AS win_rate_distribution_above_100_to_500,
              above_zero_to_100 AS win_rate_distribution_above_zero_to_100,
              below_zero AS win_rate_distribution_below_zero
         FROM lifetime
        CROSS JOIN worth
        CROSS JOIN latest
{traded_usd}
       ),
       head AS (
       SELECT 1 AS place,
              profile.*,
              %(currency)s::text AS lifetime_stats_currency,
{coin_price: @ AS lifetime_stats_$},
              -- NULL for a wallet that never traded, which has no row in lifetimes.
              stats.*,
              EXISTS (SELECT FROM candidate
                       WHERE ordinal > %(limit)s) AS has_more,
{ledger.trade_order: @ AS $},
              last.mint
         FROM profile
         LEFT JOIN stats
           ON true
         LEFT JOIN candidate AS last
           ON last.ordinal = %(limit)s
       )
{lists: page overview}
