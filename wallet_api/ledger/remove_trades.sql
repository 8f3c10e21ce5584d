-- Remove the trades of the batch. Needs trades_pkey.
DELETE FROM trades
 USING removed_batch
 WHERE trades.wallet_id = removed_batch.wallet_id
   AND trades.token_id = removed_batch.token_id
   AND trades.tx_signature = removed_batch.tx_signature
   AND trades.is_sell = removed_batch.is_sell
   AND trades.event_index = removed_batch.event_index
