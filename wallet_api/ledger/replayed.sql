-- Walk all trades of the positions to be replayed, the fresh in place of what they correct.
INSERT INTO walked
  WITH pending AS (
       SELECT fresh.*
         FROM fresh
        UNION ALL
       SELECT trades.wallet_id,
              trades.token_id,
              trades.created_at,
              trades.event_index,
              trades.is_sell,
              trades.usd_derived,
              trades.tx_signature,
              trades.token_name,
              trades.token_amount,
              trades.value,
              trades.value_usd,
              trades.exchanged_value
         FROM known_trades AS trades
        WHERE NOT EXISTS (SELECT FROM fresh
                           WHERE fresh.wallet_id = trades.wallet_id
                             AND fresh.token_id = trades.token_id
                             AND fresh.tx_signature = trades.tx_signature
                             AND fresh.is_sell = trades.is_sell
                             AND fresh.event_index = trades.event_index)
       ),
       stepped AS (
       SELECT pending.*,
              lead(1) OVER trade_order IS NULL AS is_last,
              walk(ROW(0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL)::walk_state, is_sell, token_amount, value,
                   value_usd, extract(epoch FROM created_at), token_name) OVER trade_order AS state
         FROM pending
       WINDOW trade_order AS (PARTITION BY wallet_id, token_id
                                  ORDER BY created_at, is_sell, tx_signature, event_index
                                   ROWS UNBOUNDED PRECEDING)
       )
SELECT 1 AS sign,
       TRUE AS replay,
       is_last,
       wallet_id,
       token_id,
       created_at,
       event_index,
       is_sell,
       usd_derived,
       tx_signature,
       token_name,
       token_amount,
       value,
       value_usd,
       (state).realized,
       (state).realized_cost,
       (state).hold_seconds,
       (state).realized_usd,
       (state).quantity AS quantity_after,
       (state).peak AS peak_after,
       CASE WHEN is_last THEN state END AS state,
       exchanged_value
  FROM stepped
