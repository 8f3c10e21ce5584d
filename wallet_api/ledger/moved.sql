-- What wallets have in the sums of their groups, which move with them.

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

-- days --
-- Needs position_days_pkey.
INSERT INTO day_sums
SELECT %(sign)s AS sign,
       position_days.*
  FROM position_days
 WHERE wallet_id = ANY (%(wallet_ids)s);
