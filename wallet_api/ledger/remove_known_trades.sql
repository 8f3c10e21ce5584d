-- Remove the trades of the batch from those that the ledger had.
DELETE FROM known_trades
 USING removed_batch
 WHERE known_trades.wallet_id = removed_batch.wallet_id
   AND known_trades.token_id = removed_batch.token_id
   AND known_trades.tx_signature = removed_batch.tx_signature
   AND known_trades.is_sell = removed_batch.is_sell
   AND known_trades.event_index = removed_batch.event_index
