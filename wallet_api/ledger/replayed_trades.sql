-- Insert or update the trades of replayed positions that are new or differ from the ledger's.
-- Needs trades_pkey.
INSERT INTO trades (
       wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name,
       token_amount, value, value_usd, realized, realized_cost, hold_seconds, realized_usd,
       quantity_after, peak_after, exchanged_value)
SELECT wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name,
       token_amount, value, value_usd, realized, realized_cost, hold_seconds, realized_usd,
       quantity_after, peak_after, exchanged_value
  FROM walked
 WHERE replay
   AND sign = 1
   AND NOT EXISTS (
           SELECT FROM known_trades AS known
            WHERE known.wallet_id = walked.wallet_id
              AND known.token_id = walked.token_id
              AND known.tx_signature = walked.tx_signature
              AND known.is_sell = walked.is_sell
              AND known.event_index = walked.event_index
              AND known.created_at = walked.created_at
              AND known.token_amount = walked.token_amount
              AND known.value = walked.value
              AND known.usd_derived = walked.usd_derived
              AND known.value_usd IS NOT DISTINCT FROM walked.value_usd
              AND known.token_name IS NOT DISTINCT FROM walked.token_name
              AND known.realized IS NOT DISTINCT FROM walked.realized
              AND known.realized_cost IS NOT DISTINCT FROM walked.realized_cost
              AND known.hold_seconds IS NOT DISTINCT FROM walked.hold_seconds
              AND known.realized_usd IS NOT DISTINCT FROM walked.realized_usd
              AND known.quantity_after = walked.quantity_after
              AND known.peak_after = walked.peak_after
              AND known.exchanged_value IS NOT DISTINCT FROM walked.exchanged_value)
    ON CONFLICT (wallet_id, token_id, tx_signature, is_sell, event_index) DO UPDATE
   SET created_at = excluded.created_at,
       usd_derived = excluded.usd_derived,
       token_name = excluded.token_name,
       token_amount = excluded.token_amount,
       value = excluded.value,
       value_usd = excluded.value_usd,
       realized = excluded.realized,
       realized_cost = excluded.realized_cost,
       hold_seconds = excluded.hold_seconds,
       realized_usd = excluded.realized_usd,
       quantity_after = excluded.quantity_after,
       peak_after = excluded.peak_after,
       exchanged_value = excluded.exchanged_value
