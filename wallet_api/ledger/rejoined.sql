-- The wallets that are in another group now.

-- joined --
-- The wallets as they are. Needs wallets_pkey.
INSERT INTO departed
SELECT 0 AS arrival,
       blockchain,
       type,
       address,
       name,
       image_url,
       twitter,
       telegram,
       copytrade_link
  FROM wallets
 WHERE wallet_id = ANY (%(wallet_ids)s);

-- rejoined --
-- Forget that they ever left this group: their trades are in its feed again. Needs ledger_events_by_address.
DELETE FROM ledger_events
 USING departed
 WHERE ledger_events.is_retyped
   AND ledger_events.blockchain = departed.blockchain
   AND ledger_events.address = departed.address
   AND ledger_events.type = departed.type;

-- clear --
DELETE FROM departed
