-- For other statements to include: which tokens are signals in a window that ends at `now`, by what was known then. It adds tracked
-- (wallet_id), the wallets of the group; member (token_id, wallet_id), those that make each signal; and wanted, the tokens in their order.
-- Needs wallets_by_group, position_days_pkey, trades_by_time, trades_by_token, trades_pkey, tokens_pkey, positions_pkey,
-- positions_by_token, and what whole_days.sql needs.
{group_wallets},
{whole_days},
       -- What a wallet bought of a token in the window: on its whole days by position_days, at its edges by the trades.
       bought AS MATERIALIZED (
       SELECT token_id,
              wallet_id,
              sum(invested) AS bought
         FROM (SELECT token_id,
                      wallet_id,
                      invested
                 FROM position_days
                -- An array, so that the days of each wallet are found by the key, and none of other groups is read.
                WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                               FROM tracked))
                  AND day >= %(first_day)s
                  AND day < (SELECT end_day
                               FROM whole)
                  AND %(mode)s <> 'exit'
                  AND buy_txn > 0
                UNION ALL
               SELECT within.*
                 FROM tracked
                CROSS JOIN edge_span
                -- Summed in the subquery, so that no trade of other groups is read.
                CROSS JOIN LATERAL (
                      SELECT token_id,
                             wallet_id,
                             sum(value)
                        FROM trades
                       WHERE wallet_id = tracked.wallet_id
                         AND created_at > edge_span.starts_at
                         AND created_at <= edge_span.ends_at
                         AND NOT is_sell
                       GROUP BY wallet_id, token_id) AS within
                WHERE %(mode)s <> 'exit') AS piece
        GROUP BY wallet_id, token_id
       ),
       -- What it did there for an exit, with whether it held the token after some trade, or after all.
       traded AS MATERIALIZED (
       SELECT within.*
         FROM tracked
        CROSS JOIN LATERAL (
              SELECT token_id,
                     wallet_id,
                     sum(value) FILTER (WHERE NOT is_sell) AS bought,
                     sum(value) FILTER (WHERE is_sell) AS sold,
                     max(created_at) AS latest_at,
                     bool_or(still_held(quantity_after, peak_after)) AS was_held,
                     bool_and(still_held(quantity_after, peak_after)) AS is_always_held
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > %(since)s
                 AND created_at <= %(now)s
                 AND %(mode)s = 'exit'
               GROUP BY wallet_id, token_id) AS within
       ),
       sold AS MATERIALIZED (
       SELECT traded.*
         FROM traded
        WHERE sold >= %(min_value)s
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
         FROM bought
        WHERE bought >= %(min_value)s
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
       )
