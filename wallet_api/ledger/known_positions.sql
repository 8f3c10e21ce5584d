-- The positions that the ledger has of those in the batch. Needs positions_pkey.
INSERT INTO known_positions
  WITH changed AS MATERIALIZED (
       SELECT DISTINCT wallet_id,
              token_id
         FROM incoming
       )
SELECT positions.*
  FROM changed
  JOIN positions
    ON positions.wallet_id = changed.wallet_id
   AND positions.token_id = changed.token_id
