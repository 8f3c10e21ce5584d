-- What trades cost beside what was exchanged: docs/figures.md.

-- The fees of a trade. NULL if they are unknown: without an exchanged_value, and with 0, which makes no price.
CREATE FUNCTION fees_of(is_sell boolean, value numeric, exchanged_value numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN exchanged_value > 0
            THEN greatest(CASE WHEN is_sell THEN exchanged_value - value ELSE value - exchanged_value END, 0)
       END;

-- fees is their sum, fees_unknown_txn counts the trades without. All rows get 0 without being rewritten, and their sums from the
-- rebuild of their wallet.
ALTER TABLE positions
  ADD COLUMN fees numeric NOT NULL DEFAULT 0,
  ADD COLUMN fees_unknown_txn bigint NOT NULL DEFAULT 0;

ALTER TABLE position_days
  ADD COLUMN fees numeric NOT NULL DEFAULT 0,
  ADD COLUMN fees_unknown_txn bigint NOT NULL DEFAULT 0;

ALTER TABLE wallet_days
  ADD COLUMN fees numeric NOT NULL DEFAULT 0,
  ADD COLUMN fees_unknown_txn bigint NOT NULL DEFAULT 0;

ALTER TABLE lifetimes
  ADD COLUMN fees numeric NOT NULL DEFAULT 0,
  ADD COLUMN fees_unknown_txn bigint NOT NULL DEFAULT 0;

UPDATE wallet_fill
   SET done_until = 0
 WHERE EXISTS (SELECT FROM wallets);
