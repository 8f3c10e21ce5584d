-- All days of a position are kept in position_days, by which a window of any time is summed; before, those of 92 days. The rebuild
-- of each wallet adds the earlier ones.
UPDATE wallet_fill
   SET done_until = 0
 WHERE EXISTS (SELECT FROM wallets);
