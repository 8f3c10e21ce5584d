-- What the pages of a token show of each of its traders. Nothing here reads or rewrites the rows of a large table:
-- `wallet-api migrate` fills it afterwards, wallet by wallet. docs/ledger.md describes the tables.

-- Sums over the buys and sells of a position as in wallet_days: their tokens, their dollars, and, for those without a
-- stored dollar value, their number and native value. covered_without_usd counts covered sells whose dollar profit is
-- unknown. first_buy is NULL in a position without a buy. The others are NULL until they are filled; an import of an
-- earlier version is refused.
ALTER TABLE positions
    ADD COLUMN bought_tokens numeric,
    ADD COLUMN sold_tokens numeric,
    ADD COLUMN invested_usd numeric,
    ADD COLUMN sold_usd numeric,
    ADD COLUMN invested_without_usd numeric,
    ADD COLUMN sold_without_usd numeric,
    ADD COLUMN realized_usd numeric,
    ADD COLUMN buys_without_usd bigint,
    ADD COLUMN sells_without_usd bigint,
    ADD COLUMN covered_without_usd bigint,
    ADD COLUMN first_buy timestamptz,
    ADD CONSTRAINT positions_have_totals CHECK (bought_tokens IS NOT NULL) NOT VALID;

INSERT INTO pending_fills (name)
SELECT '0009_totals_of_positions'
  FROM positions
 LIMIT 1;

-- On a ledger with trades, the fill does it.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pending_fills WHERE name = '0009_totals_of_positions') THEN
        ALTER TABLE positions VALIDATE CONSTRAINT positions_have_totals;
    END IF;
END
$$;
