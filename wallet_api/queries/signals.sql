-- The tokens that wallets of a group bought together, first, or left in a window that ends at `now`, with what was known
-- then: the state of a position is that of its last trade in the window; its sums are those of today less later trades.
-- Needs wallets_by_group, trades_by_time, trades_by_token, trades_pkey, tokens_pkey, positions_pkey, positions_by_token,
-- wallets_pkey, token_faces_pkey, lifetimes_by_last_seen, native_prices_pkey.
  WITH
{latest_price},
{group_wallets},
       -- What a wallet did in a token in the window; of an exit, with whether it held the token after some trade, or after all.
       traded AS MATERIALIZED (
       SELECT within.*
         FROM tracked
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     sum(value) FILTER (WHERE NOT is_sell) AS bought,
                     sum(value) FILTER (WHERE is_sell) AS sold,
                     max(created_at) AS latest_at,
                     bool_or(%(mode)s = 'exit' AND still_held(quantity_after, peak_after)) AS was_held,
                     bool_and(%(mode)s = 'exit' AND still_held(quantity_after, peak_after)) AS is_always_held
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > %(since)s
                 AND created_at <= %(now)s
                 AND (%(mode)s = 'exit' OR NOT is_sell)
               GROUP BY wallet_id, token_id) AS within
       ),
       sold AS MATERIALIZED (
       SELECT traded.*
         FROM traded
        WHERE %(mode)s = 'exit'
          AND sold >= %(min_value)s
          AND NOT is_always_held
       ),
       ended AS MATERIALIZED (
       SELECT last.*
         FROM sold
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     (array_agg(still_held(quantity_after, peak_after)
                                ORDER BY
{ledger.trade_order: @ DESC}
                     ))[1] AS is_held
                FROM trades
               WHERE wallet_id = sold.wallet_id
                 AND token_id = sold.token_id
                 AND created_at = sold.latest_at
               GROUP BY wallet_id, token_id) AS last
       ),
       -- Whether the token was held before the window, if it was not in it.
       began AS MATERIALIZED (
       SELECT before.*
         FROM (SELECT *
                 FROM sold
                WHERE NOT was_held) AS unheld
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     (array_agg(still_held(quantity_after, peak_after)
                                ORDER BY
{ledger.trade_order: @ DESC}
                     ))[1] AS is_held
                FROM trades
               WHERE wallet_id = unheld.wallet_id
                 AND token_id = unheld.token_id
                 AND created_at <= %(since)s
               GROUP BY wallet_id, token_id) AS before
       ),
       member AS MATERIALIZED (
       SELECT token_id,
              wallet_id,
              bought
         FROM traded
        WHERE %(mode)s <> 'exit'
          AND bought >= %(min_value)s
        UNION ALL
       SELECT sold.token_id,
              sold.wallet_id,
              sold.bought
         FROM sold
         JOIN ended
           ON ended.wallet_id = sold.wallet_id
          AND ended.token_id = sold.token_id
         LEFT JOIN began
           ON began.wallet_id = sold.wallet_id
          AND began.token_id = sold.token_id
        WHERE NOT ended.is_held
          AND (sold.was_held OR began.is_held)
       ),
       grouped AS MATERIALIZED (
       SELECT token_id,
              count(*) AS wallet_count,
              round_half_up(COALESCE(sum(bought), 0), 9) AS total_invested
         FROM member
        GROUP BY token_id
       HAVING count(*) >= %(min_wallets)s
       ),
       known AS MATERIALIZED (
       SELECT positions.token_id
         FROM grouped
         JOIN positions
           ON positions.token_id = grouped.token_id
         JOIN tracked
           ON tracked.wallet_id = positions.wallet_id
        WHERE %(mode)s = 'entry'
          AND positions.first_buy <= %(since)s
       ),
       -- The transactions of the first trades that make the signal, where they are to be several.
       began_with AS MATERIALIZED (
       SELECT first.token_id,
              first.tx_signature
         FROM grouped
         JOIN member
           ON member.token_id = grouped.token_id
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     (array_agg(tx_signature ORDER BY created_at, tx_signature, event_index))[1] AS tx_signature
                FROM trades
               WHERE wallet_id = member.wallet_id
                 AND token_id = member.token_id
                 AND created_at > %(since)s
                 AND created_at <= %(now)s
                 AND is_sell = (%(mode)s = 'exit')
               GROUP BY wallet_id, token_id) AS first
        WHERE %(min_transactions)s > 1
       ),
       joint AS MATERIALIZED (
       SELECT token_id
         FROM began_with
        GROUP BY token_id
       HAVING count(DISTINCT tx_signature) >= %(min_transactions)s
       ),
       wanted AS MATERIALIZED (
       SELECT grouped.*,
              row_number() OVER (ORDER BY wallet_count DESC, total_invested DESC, mint) AS ordinal,
              count(*) OVER () AS total,
              tokens.mint
         FROM grouped
         JOIN tokens
           ON tokens.token_id = grouped.token_id
        WHERE grouped.token_id NOT IN (SELECT token_id
                                         FROM known)
          AND (%(min_transactions)s <= 1
               OR grouped.token_id IN (SELECT token_id
                                         FROM joint))
        ORDER BY ordinal
        LIMIT %(limit)s::bigint
       ),
       -- Each position that was traded in the window in one of these tokens.
       within AS MATERIALIZED (
       SELECT wanted.ordinal,
              trades.token_id,
              trades.wallet_id,
{ledger.sums},
              min(created_at) FILTER (WHERE NOT is_sell) AS first_buy,
              -- The trades that make the signal.
              min(created_at) FILTER (WHERE is_sell = (%(mode)s = 'exit')) AS first_at,
              max(created_at) FILTER (WHERE is_sell = (%(mode)s = 'exit')) AS latest_at,
              (array_agg(tx_signature ORDER BY
{ledger.trade_order: @}
               ) FILTER (WHERE is_sell = (%(mode)s = 'exit')))[1] AS first_signature,
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
        GROUP BY trades.wallet_id, trades.token_id, wanted.ordinal
       ),
       summed AS (
       SELECT ordinal,
              count(*) AS trader_count,
              count(*) FILTER (WHERE still_held(quantity, peak)) AS still_holding_count,
{ledger.sums: sum($) AS $}
         FROM within
        GROUP BY ordinal
       ),
       stats AS MATERIALIZED (
       SELECT ordinal,
              trader_count,
              still_holding_count,
              round_half_up(invested, 9) AS total_buy,
              traded.buy_usd AS total_buy_usd,
              round_half_up(sold, 9) AS total_sell,
              traded.sell_usd AS total_sell_usd,
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
               OR EXISTS (SELECT
                            FROM trades
                           WHERE trades.wallet_id = lifetimes.wallet_id
                             AND trades.created_at > %(active_since)s
                             AND trades.created_at <= %(now)s))
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
              round_half_up(invested, 9) AS total_buy,
              traded.buy_usd AS total_buy_usd,
              round_half_up(sold, 9) AS total_sell,
              traded.sell_usd AS total_sell_usd,
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
              stats.trader_count,
              stats.still_holding_count,
              stats.total_buy,
              stats.total_buy_usd,
              stats.total_sell,
              stats.total_sell_usd,
              stats.net_flow,
              stats.net_flow_usd,
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
              (SELECT round_half_up(usd, 18)
                 FROM latest) AS native_price_usd,
              (SELECT iso_time(priced_at)
                 FROM latest) AS native_price_at,
              COALESCE(max(total), 0) AS total
         FROM wanted
       )
SELECT head.*,
       shown.*,
       shown_wallet.*
  FROM head
  FULL JOIN shown
 USING (place)
  FULL JOIN shown_wallet
 USING (place)
 ORDER BY COALESCE(head.place, shown.place, shown_wallet.place)
