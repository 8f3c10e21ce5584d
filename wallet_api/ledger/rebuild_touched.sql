-- All positions of a wallet, to be replayed. Needs trades_pkey.
INSERT INTO touched
SELECT DISTINCT wallet_id,
       token_id,
       TRUE AS replay,
       ROW(0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL)::walk_state AS start
  FROM trades
 WHERE wallet_id = %(wallet_id)s
