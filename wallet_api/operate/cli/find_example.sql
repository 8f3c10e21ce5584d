-- A wallet of a group with at least five traded tokens, and as few as possible, so that its history is a
-- readable example. Needs the index wallets_by_group and the key of positions.
  SELECT wallets.address AS wallet_address
    FROM wallets
    JOIN positions
   USING (wallet_id)
   WHERE wallets.blockchain = %(blockchain)s
     AND wallets.type = %(type)s
   GROUP BY wallets.address
   ORDER BY count(*) < 5,
            count(*),
            wallets.address
   LIMIT 1
