-- For other statements to include, after their CTE wanted (token_id). It adds token_name (token_id, token_name): the name
-- in the newest trade of each wanted token that has one. A token without a name has no row.
-- Nearly all tokens have a single name, which is kept. Of others, trades are read from the newest moment that has a name for certain:
-- that of the last trade of a position, or of the first one.
-- Needs token_ranks_pkey, positions_by_token, trades_by_time, trades_by_token, wallets_pkey.
       ranked AS MATERIALIZED (
       SELECT wanted.token_id,
              token_ranks.token_name,
              token_ranks.is_renamed
         FROM wanted
         JOIN token_ranks
           ON token_ranks.token_id = wanted.token_id
       ),
       renamed AS MATERIALIZED (
       SELECT ranked.token_id,
              GREATEST(max(positions.first_seen),
                       max(trades.created_at) FILTER (WHERE trades.token_name IS NOT NULL)) AS starts_at,
              max(positions.last_seen) AS ends_at
         FROM ranked
         JOIN positions
           ON positions.token_id = ranked.token_id
         JOIN trades
           ON trades.wallet_id = positions.wallet_id
          AND trades.token_id = positions.token_id
          AND trades.created_at = positions.last_seen
        WHERE ranked.is_renamed
          AND positions.token_name IS NOT NULL
        GROUP BY ranked.token_id
       ),
       newest_name AS MATERIALIZED (
       SELECT DISTINCT ON (renamed.token_id)
              renamed.token_id,
              trades.token_name
         FROM renamed
         JOIN trades
           ON trades.token_id = renamed.token_id
          AND trades.created_at >= renamed.starts_at
          AND trades.created_at <= renamed.ends_at
         JOIN wallets
           ON wallets.wallet_id = trades.wallet_id
        WHERE trades.token_name IS NOT NULL
        ORDER BY renamed.token_id,
{ledger.trade_order: @ DESC},
                 wallets.address DESC
       ),
       token_name AS (
       SELECT token_id,
              token_name
         FROM ranked
        WHERE NOT is_renamed
          AND token_name IS NOT NULL
        UNION ALL
       SELECT token_id,
              token_name
         FROM newest_name
       )
