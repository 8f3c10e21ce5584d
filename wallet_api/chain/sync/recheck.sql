-- The second reading of blocks, a day later.

-- due --
-- Until when the blocks of a chain were read again, and until when its wallets are read. Needs
-- sync_chains_pkey.
SELECT rechecked_until,
       synced_until
  FROM sync_chains
 WHERE blockchain = %(blockchain)s
   AND rechecked_until IS NOT NULL;

-- read --
-- The transactions of a time of which the ledger has trades. Needs wallets_by_group, trades_by_time.
SELECT DISTINCT
       trades.tx_signature,
       wallets.address
  FROM wallets
  JOIN trades
    ON trades.wallet_id = wallets.wallet_id
   -- Another source may not have stated the part of its second.
   AND trades.created_at >= date_trunc('second', %(since)s)
   AND trades.created_at <= %(until)s
 WHERE wallets.blockchain = %(blockchain)s;

-- move --
-- Save until when the blocks of a chain were read again. Needs sync_chains_pkey.
UPDATE sync_chains
   SET rechecked_until = GREATEST(rechecked_until, %(until)s)
 WHERE blockchain = %(blockchain)s;
