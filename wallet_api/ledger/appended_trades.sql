-- Insert the trades of appended positions. One that the ledger has already is a duplicate key, after which the
-- whole batch is replayed.
INSERT INTO trades (
       wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name,
       token_amount, value, value_usd, realized, realized_cost, hold_seconds, realized_usd,
       quantity_after, peak_after, exchanged_value)
SELECT wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name,
       token_amount, value, value_usd, realized, realized_cost, hold_seconds, realized_usd,
       quantity_after, peak_after, exchanged_value
  FROM walked
 WHERE NOT replay
