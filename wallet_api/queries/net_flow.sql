-- The tokens that a group traded in a window that ends now, with what it put into each and took out of it.
-- Needs wallets_by_group, tokens_pkey, and what period_positions.sql needs.
  WITH
{group_wallets},
{period_positions},
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
