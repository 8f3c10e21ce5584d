-- The positions that lose trades of the batch, all to be replayed. Needs trades_pkey.
INSERT INTO touched
SELECT DISTINCT trades.wallet_id,
       trades.token_id,
       TRUE AS replay,
       ROW(0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL)::walk_state AS start
  FROM removed_batch
  JOIN trades
    ON trades.wallet_id = removed_batch.wallet_id
   AND trades.token_id = removed_batch.token_id
   AND trades.tx_signature = removed_batch.tx_signature
   AND trades.is_sell = removed_batch.is_sell
   AND trades.event_index = removed_batch.event_index
