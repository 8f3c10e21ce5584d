-- The positions of the fresh trades, all to be replayed.
INSERT INTO touched
SELECT DISTINCT wallet_id,
       token_id,
       TRUE AS replay,
       ROW(0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL)::walk_state AS start
  FROM fresh
