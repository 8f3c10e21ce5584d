-- The tokens that a wallet holds according to its trades, in their smallest units. Needs the key of wallets
-- by address, and that of positions.
SELECT positions.mint,
       trunc(positions.quantity * 10::numeric ^ %(decimals)s::integer) AS units
  FROM wallets
  JOIN positions
 USING (wallet_id)
 WHERE wallets.blockchain = %(blockchain)s
   AND wallets.address = %(address)s
   AND positions.quantity > 0
 ORDER BY positions.mint
