-- Walk the fresh trades, and with them those that were taken out and are neither replaced nor removed, and store the
-- trades that change.

-- walked --
-- Each position is walked from its state, or from nothing if it is new or was taken out.
INSERT INTO walked
  WITH pending AS (
       SELECT wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name,
              token_amount, value, value_usd, exchanged_value,
              NULL::numeric AS realized,
              NULL::numeric AS realized_cost,
              NULL::numeric AS hold_seconds,
              NULL::numeric AS realized_usd,
              NULL::numeric AS quantity_after,
              NULL::numeric AS peak_after,
              arrival,
              first_arrival,
              NULL::numeric AS tokens_without_cost,
              value_derived,
              block,
              block_index,
              first_arrival IS NOT NULL OR arrival > 0 AS is_known
         FROM fresh
        UNION ALL
       SELECT taken.*,
              TRUE
         FROM taken
        WHERE NOT EXISTS (SELECT FROM fresh
                           WHERE fresh.wallet_id = taken.wallet_id
                             AND fresh.token_id = taken.token_id
                             AND fresh.tx_signature = taken.tx_signature
                             AND fresh.is_sell = taken.is_sell
                             AND fresh.event_index = taken.event_index)
          AND NOT EXISTS (SELECT FROM removed
                           WHERE removed.wallet_id = taken.wallet_id
                             AND removed.token_id = taken.token_id
                             AND removed.tx_signature = taken.tx_signature
                             AND removed.is_sell = taken.is_sell
                             AND removed.event_index = taken.event_index)
       ),
       stepped AS (
       SELECT pending.*,
              lead(1) OVER trade_order IS NULL AS is_last,
              walk(ROW(COALESCE(continued.quantity, 0),
                       COALESCE(continued.cost, 0),
                       CASE WHEN continued.wallet_id IS NULL THEN 0 ELSE continued.cost_usd END,
                       COALESCE(continued.acquired_at, 0),
                       COALESCE(continued.peak, 0),
                       continued.token_name, NULL, NULL, NULL, NULL, NULL)::walk_state,
                   pending.is_sell, pending.token_amount, pending.value, pending.value_usd,
                   extract(epoch FROM pending.created_at), pending.token_name) OVER trade_order AS state
         FROM pending
         LEFT JOIN continued
           ON continued.wallet_id = pending.wallet_id
          AND continued.token_id = pending.token_id
       WINDOW trade_order AS (PARTITION BY pending.wallet_id, pending.token_id
                                  ORDER BY
{trade_order: @}
                                   ROWS UNBOUNDED PRECEDING)
       )
SELECT (arrival > 0
        AND quantity_after = (state).quantity
        AND peak_after = (state).peak
        AND realized IS NOT DISTINCT FROM (state).realized
        AND realized_cost IS NOT DISTINCT FROM (state).realized_cost
        AND hold_seconds IS NOT DISTINCT FROM (state).hold_seconds
        AND realized_usd IS NOT DISTINCT FROM (state).realized_usd
        AND tokens_without_cost IS NOT DISTINCT FROM (state).tokens_without_cost) IS NOT TRUE AS is_changed,
       is_known,
       is_last,
       wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name,
       token_amount, value, value_usd, exchanged_value,
       (state).realized,
       (state).realized_cost,
       (state).hold_seconds,
       (state).realized_usd,
       (state).quantity AS quantity_after,
       (state).peak AS peak_after,
       arrival,
       first_arrival,
       (state).tokens_without_cost,
       value_derived,
       block,
       block_index,
       CASE WHEN is_last THEN state END AS state
  FROM stepped;

-- analyze_walked --
ANALYZE walked (wallet_id, token_id, created_at, is_last, is_changed, is_known);

-- replaced --
-- Needs trades_pkey.
DELETE FROM trades
 USING (SELECT wallet_id, token_id, tx_signature, is_sell, event_index
          FROM walked
         WHERE is_changed
           AND is_known
         UNION ALL
        SELECT wallet_id, token_id, tx_signature, is_sell, event_index
          FROM removed) AS replaced
 WHERE trades.wallet_id = replaced.wallet_id
   AND trades.token_id = replaced.token_id
   AND trades.tx_signature = replaced.tx_signature
   AND trades.is_sell = replaced.is_sell
   AND trades.event_index = replaced.event_index;

-- trades --
-- Trades that are new, corrected or without a chunk get one of about 100, in their order here; others keep theirs.
INSERT INTO trades (
       wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name, token_amount,
       value, value_usd, exchanged_value, realized, realized_cost, hold_seconds, realized_usd, quantity_after,
       peak_after, tokens_without_cost, arrival, first_arrival, value_derived, block, block_index)
SELECT wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name, token_amount,
       value, value_usd, exchanged_value, realized, realized_cost, hold_seconds, realized_usd, quantity_after,
       peak_after, tokens_without_cost,
       CASE WHEN arrival > 0 THEN arrival
            ELSE %(first_chunk)s::bigint + (row_number() OVER () - 1) / ((SELECT count(*) FROM walked) / 4096 + 100)
       END AS arrival,
       first_arrival,
       value_derived,
       block,
       block_index
  FROM walked
 WHERE is_changed;
