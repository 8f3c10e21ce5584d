-- Move the next staged trades into the batch, position by position.
  WITH taken AS (
       DELETE FROM removed_trades
        WHERE (wallet_id, token_id, tx_signature, is_sell, event_index) IN (
              SELECT wallet_id, token_id, tx_signature, is_sell, event_index
                FROM removed_trades
               ORDER BY wallet_id, token_id, tx_signature, is_sell, event_index
               LIMIT %(limit)s)
       RETURNING *
       )
INSERT INTO removed_batch
SELECT *
  FROM taken
