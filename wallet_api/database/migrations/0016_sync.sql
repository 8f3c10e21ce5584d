-- What looks like a trade without a proof is kept by name, and blocks are read again after a day.

-- The trades of a transaction that nothing proves the wallet to have agreed to: its reason is 'unsigned', or 'accepted' once an
-- operator has accepted it. An array of objects as an import has them; NULL for all that is left out otherwise.
ALTER TABLE sync_left_out ADD COLUMN trades jsonb;

-- Until when the blocks of a chain were read a second time, a day later.
ALTER TABLE sync_chains ADD COLUMN rechecked_until timestamptz;

-- The last day, in which a node may have left out logs, is read again first.
UPDATE sync_chains
   SET rechecked_until = synced_until - interval '1 day';
