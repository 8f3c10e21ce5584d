-- The trades of positions that went on: new to the ledger, or the batch is merged again with care.
INSERT INTO trades (
       wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name,
       token_amount, value, value_usd, realized, realized_cost, hold_seconds, realized_usd)
SELECT wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name,
       token_amount, value, value_usd, realized, realized_cost, hold_seconds, realized_usd
  FROM walked
 WHERE NOT rewalk
