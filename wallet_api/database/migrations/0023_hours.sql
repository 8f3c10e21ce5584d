-- What each wallet traded in an hour, from which the trends of a group are summed. All rows get 0 without being rewritten, and their
-- sums from the rebuild of their wallet.
ALTER TABLE wallet_hours
  ADD COLUMN buys_without_usd bigint NOT NULL DEFAULT 0,
  ADD COLUMN sells_without_usd bigint NOT NULL DEFAULT 0,
  ADD COLUMN invested numeric NOT NULL DEFAULT 0,
  ADD COLUMN sold numeric NOT NULL DEFAULT 0,
  ADD COLUMN invested_usd numeric NOT NULL DEFAULT 0,
  ADD COLUMN sold_usd numeric NOT NULL DEFAULT 0,
  ADD COLUMN invested_without_usd numeric NOT NULL DEFAULT 0,
  ADD COLUMN sold_without_usd numeric NOT NULL DEFAULT 0;

UPDATE wallet_fill
   SET done_until = 0
 WHERE EXISTS (SELECT FROM wallets);
