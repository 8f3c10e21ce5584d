-- The tokens that wallets of a group bought together, first, or left in a window that ends at `now`, with what was known
-- then: the state of a position is that of its last trade in the window; its sums are those of today less later trades.
-- Needs wallets_pkey, token_faces_pkey, lifetimes_by_last_seen, native_prices_pkey, and what chosen_signals.sql needs.
  WITH
{latest_price},
{chosen_signals},
       -- Each position that was traded in the window in one of these tokens.
       within AS MATERIALIZED (
       SELECT ordinal,
              token_id,
              wallet_id,
              buy_txn,
              sell_txn,
              buys_without_usd,
              sells_without_usd,
              invested,
              sold,
              invested_usd,
              sold_usd,
              invested_without_usd,
              sold_without_usd,
              bought_tokens,
              first_buy,
              first_at,
              latest_at,
              signatures[cardinality(signatures)] AS first_signature,
              quantity,
              peak
         -- In a subquery, so that only these sums are computed.
         FROM (SELECT wanted.ordinal,
                      trades.token_id,
                      trades.wallet_id,
{ledger.sums},
                      min(created_at) FILTER (WHERE NOT is_sell) AS first_buy,
                      -- The trades that make the signal.
                      min(created_at) FILTER (WHERE is_sell = (%(mode)s = 'exit')) AS first_at,
                      max(created_at) FILTER (WHERE is_sell = (%(mode)s = 'exit')) AS latest_at,
                      -- All in one order, in which the trades are sorted once.
                      array_agg(tx_signature ORDER BY
{ledger.trade_order: @ DESC}
                      ) FILTER (WHERE is_sell = (%(mode)s = 'exit')) AS signatures,
                      (array_agg(quantity_after ORDER BY
{ledger.trade_order: @ DESC}
                      ))[1] AS quantity,
                      (array_agg(peak_after ORDER BY
{ledger.trade_order: @ DESC}
                      ))[1] AS peak
                 FROM wanted
                 JOIN trades
                   ON trades.token_id = wanted.token_id
                 JOIN tracked
                   ON tracked.wallet_id = trades.wallet_id
                WHERE trades.created_at > %(since)s
                  AND trades.created_at <= %(now)s
                GROUP BY trades.wallet_id, trades.token_id, wanted.ordinal) AS traded
       ),
       summed AS (
       SELECT ordinal,
              count(*) AS trader_count,
              count(*) FILTER (WHERE still_held(quantity, peak)) AS still_holding_count,
              sum(buy_txn) AS buy_txn,
              sum(sell_txn) AS sell_txn,
              sum(buys_without_usd) AS buys_without_usd,
              sum(sells_without_usd) AS sells_without_usd,
              sum(invested) AS invested,
              sum(sold) AS sold,
              sum(invested_usd) AS invested_usd,
              sum(sold_usd) AS sold_usd,
              sum(invested_without_usd) AS invested_without_usd,
              sum(sold_without_usd) AS sold_without_usd
         FROM within
        GROUP BY ordinal
       ),
       stats AS MATERIALIZED (
       SELECT ordinal,
              trader_count,
              still_holding_count,
{bought_and_sold: @ AS total_$},
              round_half_up(invested - sold, 9) AS net_flow,
              traded.net_flow_usd
         FROM summed
        CROSS JOIN latest
{traded_usd}
       ),
       span AS MATERIALIZED (
       SELECT within.ordinal,
              sum(within.invested) AS invested,
              sum(bought_tokens) AS bought_tokens,
              dollars(sum(invested_usd), sum(invested_without_usd), sum(within.buy_txn), sum(buys_without_usd),
                      latest.usd) AS usd,
              min(first_at) AS first_at,
              max(latest_at) AS latest_at,
              count(DISTINCT first_signature) AS transaction_count
         FROM within
         JOIN member
           ON member.wallet_id = within.wallet_id
          AND member.token_id = within.token_id
        CROSS JOIN latest
        GROUP BY within.ordinal, latest.usd
       ),
       -- What came after the moment, to be subtracted.
       later AS MATERIALIZED (
       SELECT trades.token_id,
              trades.wallet_id,
{ledger.sums}
         FROM wanted
         JOIN trades
           ON trades.token_id = wanted.token_id
        WHERE %(include_wallets)s
          AND trades.created_at > %(now)s
        GROUP BY trades.wallet_id, trades.token_id
       ),
       position AS MATERIALIZED (
       SELECT within.wallet_id,
              within.token_id,
              within.ordinal,
              within.first_buy,
              within.quantity,
              within.peak,
              within.buy_txn AS window_buy_txn,
              within.buys_without_usd AS window_buys_without_usd,
              within.invested AS window_invested,
              within.invested_usd AS window_invested_usd,
              within.invested_without_usd AS window_invested_without_usd,
              within.bought_tokens AS window_bought_tokens,
{ledger.sums: positions.$ - COALESCE(later.$, 0) AS $},
              row_number() OVER (PARTITION BY within.ordinal
                                     ORDER BY within.first_at, wallets.address) AS place
         FROM within
         JOIN member
           ON member.wallet_id = within.wallet_id
          AND member.token_id = within.token_id
         JOIN wallets
           ON wallets.wallet_id = within.wallet_id
         JOIN positions
           ON positions.wallet_id = within.wallet_id
          AND positions.token_id = within.token_id
         LEFT JOIN later
           ON later.wallet_id = within.wallet_id
          AND later.token_id = within.token_id
        WHERE %(include_wallets)s
       ),
       active AS MATERIALIZED (
       SELECT wallet_id
         FROM lifetimes
        WHERE %(include_wallets)s
          AND blockchain = %(blockchain)s
          AND type = ANY (%(types)s::text[])
          AND last_seen > %(active_since)s
          AND (last_seen <= %(now)s
               OR (SELECT max(trades.created_at)
                     FROM trades
                    WHERE trades.wallet_id = lifetimes.wallet_id
                      AND trades.created_at <= %(now)s) > %(active_since)s)
       ),
       shown_wallet AS (
       SELECT row_number() OVER (ORDER BY position.ordinal, position.place) AS place,
              position.ordinal,
{profile},
              iso_time(first_buy) AS bought_at,
              active.wallet_id IS NOT NULL AS is_active,
              still_held(quantity, peak) AS still_holding,
              buy_txn,
              sell_txn,
              round_half_up(bought_tokens, 18) AS buy_tokens,
              round_half_up(sold_tokens, 18) AS sell_tokens,
              round_half_up(quantity, 18) AS held_tokens,
              round_half_up(peak, 18) AS held_tokens_peak,
              percentage(quantity, peak) AS bag_pct,
              percentage(quantity, NULLIF(face.supply, 0)) AS supply_pct,
              percentage(peak, NULLIF(face.supply, 0)) AS supply_pct_peak,
{bought_and_sold: @ AS total_$},
              round_half_up(realized, 9) AS realized_pnl,
              CASE WHEN covered_without_usd = 0 THEN round_half_up(realized_usd, 4) END AS realized_pnl_usd,
              percentage(realized, realized_cost) AS realized_pnl_percentage,
              window_buy_txn,
              round_half_up(window_invested, 9) AS window_invested,
              round_half_up(dollars(window_invested_usd, window_invested_without_usd, window_buy_txn,
                                    window_buys_without_usd, latest.usd), 4) AS window_invested_usd,
              round_half_up(window_bought_tokens, 18) AS window_tokens_bought
         FROM position
         JOIN wallets
           ON wallets.wallet_id = position.wallet_id
         LEFT JOIN (SELECT token_id,
                           supply
                      FROM token_faces) AS face
           ON face.token_id = position.token_id
         LEFT JOIN active
           ON active.wallet_id = position.wallet_id
        CROSS JOIN latest
{traded_usd}
        WHERE position.place <= %(most_wallets)s
       ),
       shown AS (
       SELECT ordinal AS place,
              wanted.token_id,
              wanted.mint,
              stats.*,
              wanted.wallet_count,
              span.transaction_count,
              iso_time(span.first_at) AS first_buy_at,
              iso_time(span.latest_at) AS latest_buy_at,
              round_half_up(quotient(extract(epoch FROM span.latest_at - span.first_at), 60), 2) AS time_span_minutes,
              wanted.total_invested,
              round_half_up(span.usd, 4) AS total_invested_usd,
              round_half_up(quotient(span.invested, wanted.wallet_count), 9) AS avg_invested,
              round_half_up(quotient(span.usd, wanted.wallet_count), 4) AS avg_invested_usd,
              round_half_up(span.bought_tokens, 18) AS total_tokens_bought,
              percentage(span.bought_tokens, NULLIF(face.supply, 0)) AS supply_pct_bought
         FROM wanted
         -- FULL, so that they are hashed. Each has a row for each token.
         FULL JOIN stats
        USING (ordinal)
         FULL JOIN span
        USING (ordinal)
         LEFT JOIN token_faces AS face
           ON face.token_id = wanted.token_id
       ),
       head AS (
       SELECT 1 AS place,
{coin_price},
              COALESCE(max(total), 0) AS total
         FROM wanted
       )
{lists: shown shown_wallet}
