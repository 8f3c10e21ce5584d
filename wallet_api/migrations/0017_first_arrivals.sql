-- Where a trade first arrived, so that a feed can say whether it is new to its follower: docs/ledger.md.

-- The number of that chunk, of trades that were corrected since; 0 if it is not known. NULL in all others, which are still
-- in the chunk in which they arrived.
ALTER TABLE trades ADD COLUMN first_arrival bigint;

UPDATE trades
   SET first_arrival = 0
 WHERE is_correction;

ALTER TABLE trades DROP COLUMN is_correction;
