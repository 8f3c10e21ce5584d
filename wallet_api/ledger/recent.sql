-- The recent trades of some wallets, to move their volume.

-- taken --
-- Needs trades_by_time.
INSERT INTO taken
SELECT *
  FROM trades
 WHERE wallet_id = ANY (%(wallet_ids)s)
   AND created_at > %(since)s;

-- walked --
-- Needs trades_by_time.
INSERT INTO walked
SELECT FALSE AS is_changed,
       TRUE AS is_known,
       FALSE AS is_last,
       trades.*
  FROM trades
 WHERE wallet_id = ANY (%(wallet_ids)s)
   AND created_at > %(since)s;
