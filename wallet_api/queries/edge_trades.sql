-- For other statements to include as their FROM, with the CTEs tracked (wallet_id) and edge_span (whole_days.sql): what each wallet
-- did in each token in each part beside the whole days. A sum that the statement does not read is not computed. Needs trades_by_time.
         FROM tracked
        CROSS JOIN edge_span
        -- Summed in the subquery, so that no trade of other groups is read.
        CROSS JOIN LATERAL (
              SELECT wallet_id,
                     token_id,
                     max(realized) AS best_trade,
{ledger.sums}
                FROM trades
               WHERE wallet_id = tracked.wallet_id
                 AND created_at > edge_span.starts_at
                 AND created_at <= edge_span.ends_at
               GROUP BY wallet_id, token_id) AS within
