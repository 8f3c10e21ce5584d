-- Most positions are intraday: traded on one day of UTC alone. What these add to the board of a period is kept by wallet and day, so
-- that a board reads the rows of position_days of the others alone. Until its rebuild a wallet has none, and all of its rows are read.

ALTER TABLE position_days ADD COLUMN is_intraday boolean NOT NULL DEFAULT FALSE;

CREATE INDEX several_days_by_wallet ON position_days (wallet_id, day) WHERE NOT is_intraday;

-- Of the intraday positions of this day that have a covered sell: how many are in each bucket, the sum of their losses, the largest
-- profit of one, and of one sell.
ALTER TABLE wallet_days
  ADD COLUMN intraday_below_zero bigint NOT NULL DEFAULT 0,
  ADD COLUMN intraday_above_zero_to_100 bigint NOT NULL DEFAULT 0,
  ADD COLUMN intraday_above_100_to_500 bigint NOT NULL DEFAULT 0,
  ADD COLUMN intraday_above_500 bigint NOT NULL DEFAULT 0,
  ADD COLUMN intraday_losses numeric NOT NULL DEFAULT 0,
  ADD COLUMN intraday_best_token numeric,
  ADD COLUMN intraday_best_trade numeric;

UPDATE wallet_fill
   SET done_until = 0
 WHERE EXISTS (SELECT FROM wallets);
