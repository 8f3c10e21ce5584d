-- The wallets that are removed, leave their group or return to it, for those who follow the feed.

-- departed --
-- The wallets as they are: of those that leave, before the change. Needs wallets_pkey.
INSERT INTO departed
SELECT %(first_chunk)s::bigint + (row_number() OVER () - 1) / (count(*) OVER () / 4096 + 100) AS arrival,
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

-- superseded --
-- Forget earlier departures from the same group. One of a wallet that only left its group does not supersede a removal, which
-- feeds of all groups have too. Needs ledger_events_by_address.
DELETE FROM ledger_events
 USING departed
 WHERE ledger_events.event = 'wallet_removal'
   AND ledger_events.blockchain = departed.blockchain
   AND ledger_events.address = departed.address
   AND ledger_events.type = departed.type
   AND (ledger_events.is_retyped OR NOT %(is_retyped)s::boolean);

-- events --
INSERT INTO ledger_events (
       arrival, event, blockchain, type, address, name, image_url, twitter, telegram, copytrade_link, is_retyped)
SELECT arrival,
       'wallet_removal',
       blockchain,
       type,
       address,
       name,
       image_url,
       twitter,
       telegram,
       copytrade_link,
       %(is_retyped)s::boolean
  FROM departed;

-- rejoined --
-- Forget that wallets ever left the group in which they are now: their trades are in its feed again. Needs
-- ledger_events_by_address.
DELETE FROM ledger_events
 USING departed
 WHERE ledger_events.is_retyped
   AND ledger_events.blockchain = departed.blockchain
   AND ledger_events.address = departed.address
   AND ledger_events.type = departed.type;

-- clear --
DELETE FROM departed
