-- The tokens that a group traded in a window that ends now, with what it put into each and took out of it.
-- Whole days are read from position_days, the rest from the trades.
-- Needs wallets_by_group, tokens_pkey, position_days_pkey, and what whole_days.sql and edge_trades.sql need.
  WITH
{group_wallets},
{whole_days},
       -- What each wallet did in each token in each part of the window.
       piece AS (
       SELECT wallet_id, token_id, buy_txn, sell_txn, invested, sold
         FROM position_days
        -- An array, so that the days of each wallet are found by the key, and none of other groups is read.
        WHERE wallet_id = ANY (ARRAY(SELECT wallet_id
                                       FROM tracked))
          AND day >= %(first_day)s
          AND day < (SELECT end_day
                       FROM whole)
        UNION ALL
       SELECT within.wallet_id, within.token_id, buy_txn, sell_txn, invested, sold
{edge_trades}
       ),
       flow AS (
       SELECT token_id,
              round_half_up(sum(invested), 9) AS buy,
              round_half_up(sum(sold), 9) AS sell,
              round_half_up(sum(invested) - sum(sold), 9) AS net_flow,
              count(DISTINCT wallet_id) FILTER (WHERE buy_txn > 0) AS buyers,
              count(DISTINCT wallet_id) FILTER (WHERE sell_txn > 0) AS sellers,
              count(DISTINCT wallet_id) AS wallet_count
         FROM piece
        GROUP BY token_id
       )
SELECT flow.*,
       tokens.mint
  FROM flow
  JOIN tokens
    ON tokens.token_id = flow.token_id
