-- The trades that the ledger has of the positions to be replayed. Needs trades_pkey.
INSERT INTO known_trades
  WITH replayed AS MATERIALIZED (
       SELECT wallet_id,
              token_id
         FROM touched
        WHERE replay
       )
SELECT trades.*
  FROM replayed
  JOIN trades
    ON trades.wallet_id = replayed.wallet_id
   AND trades.token_id = replayed.token_id
