-- The tracked wallets whose type the batch changes. Needs wallets_blockchain_address_key.
SELECT wallets.wallet_id
  FROM wallets
  JOIN (SELECT DISTINCT ON (blockchain, address) blockchain, address, type
          FROM incoming_wallets
         ORDER BY blockchain, address, line_number DESC) AS latest
    ON latest.blockchain = wallets.blockchain
   AND latest.address = wallets.address
 WHERE latest.type <> wallets.type
