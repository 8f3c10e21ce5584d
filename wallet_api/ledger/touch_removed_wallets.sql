-- The positions of the staged wallets. Needs positions_pkey.
INSERT INTO touched
SELECT positions.wallet_id,
       positions.token_id,
       TRUE AS replay,
       ROW(0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL)::walk_state AS start
  FROM removed_wallets
  JOIN positions
    ON positions.wallet_id = removed_wallets.wallet_id
