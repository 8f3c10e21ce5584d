-- The trades to remove that no file names. The first two fill `trades_to_remove` of remove.sql.

-- stage_before --
-- Stage the trades before a time of the positions that were not held then; of all positions with `include_open`. All
-- trades are read.
INSERT INTO trades_to_remove
SELECT trades.wallet_id,
       trades.token_id,
       trades.tx_signature,
       trades.is_sell,
       trades.event_index
  FROM (SELECT DISTINCT ON (wallet_id, token_id) wallet_id,
               token_id,
               still_held(quantity_after, peak_after) AS is_open
          FROM trades
         WHERE created_at < %(before)s
         ORDER BY wallet_id, token_id,
{trade_order: @ DESC}
       ) AS position
  JOIN trades
    ON trades.wallet_id = position.wallet_id
   AND trades.token_id = position.token_id
 WHERE trades.created_at < %(before)s
   AND (%(include_open)s::boolean OR NOT position.is_open);

-- stage_tokens --
-- Stage all trades of some tokens. Needs trades_by_token.
INSERT INTO trades_to_remove
SELECT wallet_id,
       token_id,
       tx_signature,
       is_sell,
       event_index
  FROM trades
 WHERE token_id = ANY (%(token_ids)s::bigint[]);

-- effects --
-- How many positions were held at a time, and how many covered sells from then on lose their cost, in whole or in part, by
-- the removal of what stage_before selects: those until their position is next empty. All trades are read.
  WITH position AS (
       SELECT DISTINCT ON (wallet_id, token_id) wallet_id,
              token_id,
              quantity_after,
              still_held(quantity_after, peak_after) AS is_open
         FROM trades
        WHERE created_at < %(before)s
        ORDER BY wallet_id, token_id,
{trade_order: @ DESC}
       ),
       later AS (
       SELECT trades.realized_cost,
              count(*) FILTER (WHERE trades.quantity_after = 0) OVER (
                  PARTITION BY trades.wallet_id, trades.token_id
                      ORDER BY
{trade_order: @}
                       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS times_empty
         FROM position
         JOIN trades
           ON trades.wallet_id = position.wallet_id
          AND trades.token_id = position.token_id
        WHERE trades.created_at >= %(before)s
          AND position.quantity_after > 0
          AND (%(include_open)s::boolean OR NOT position.is_open)
       )
SELECT (SELECT count(*)
          FROM position
         WHERE is_open) AS open_positions,
       (SELECT count(*)
          FROM later
         WHERE realized_cost IS NOT NULL
           AND times_empty = 0) AS later_sells;
