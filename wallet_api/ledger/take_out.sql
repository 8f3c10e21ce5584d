-- Take out the late positions with their days, and the lifetimes of their wallets, until put_in.sql and totals.sql put in
-- what becomes of them.

-- analyze_affected --
ANALYZE affected (wallet_id, token_id, is_late);

-- positions --
-- Needs positions_pkey.
DELETE FROM positions
 USING affected
 WHERE affected.is_late
   AND positions.wallet_id = affected.wallet_id
   AND positions.token_id = affected.token_id;

-- position_days --
-- Needs position_days_pkey.
DELETE FROM position_days
 USING affected
 WHERE affected.is_late
   AND position_days.wallet_id = affected.wallet_id
   AND position_days.token_id = affected.token_id;

-- not_continued --
DELETE FROM continued
 USING affected
 WHERE affected.is_late
   AND continued.wallet_id = affected.wallet_id
   AND continued.token_id = affected.token_id;

-- lifetimes --
-- Needs lifetimes_pkey.
DELETE FROM lifetimes
 USING (SELECT DISTINCT wallet_id FROM affected WHERE is_late) AS changed
 WHERE lifetimes.wallet_id = changed.wallet_id;

-- trades --
-- A copy of them: put_in.sql changes only those whose results change. Needs trades_pkey.
INSERT INTO taken
  WITH late AS MATERIALIZED (
       SELECT wallet_id,
              token_id
         FROM affected
        WHERE is_late
       )
SELECT trades.*
  FROM late
  JOIN trades
    ON trades.wallet_id = late.wallet_id
   AND trades.token_id = late.token_id;

-- analyze_taken --
ANALYZE taken (wallet_id, token_id, tx_signature);
