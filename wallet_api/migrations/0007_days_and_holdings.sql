-- What a feed, a calendar and the pages of a token read. Nothing here reads or rewrites the rows of a large table:
-- `wallet-api migrate` fills them afterwards, wallet by wallet. docs/ledger.md describes the tables.

-- The fills that are not finished, by the names of their migrations. None is to do in a ledger without trades.
CREATE TABLE pending_fills (
    name text PRIMARY KEY
);

INSERT INTO pending_fills (name)
SELECT '0007_days_and_holdings'
  FROM lifetimes
 LIMIT 1;

-- The quantity that the wallet held after the trade, and its largest quantity until then.
-- Earlier rows have NULL until they are filled; an import of an earlier version is refused.
ALTER TABLE trades
    ADD COLUMN quantity_after numeric,
    ADD COLUMN peak_after numeric,
    ADD CONSTRAINT trades_have_holding CHECK (quantity_after IS NOT NULL AND peak_after IS NOT NULL) NOT VALID;

-- The group of the wallet, as in wallets, and the time of its newest trade. NULL until the wallet is filled.
ALTER TABLE lifetimes
    ADD COLUMN blockchain text,
    ADD COLUMN type text,
    ADD COLUMN last_seen timestamptz;

CREATE INDEX lifetimes_by_last_seen ON lifetimes (blockchain, type, last_seen);

-- Sums over the trades of one wallet in one day of UTC, from 00:00 until before 24:00. Days without a trade have
-- no row. A set of trades (buys, sells) has dollars and, for its trades without a stored dollar value, their
-- number and native value. covered_without_usd counts covered sells whose dollar profit is unknown. hold_seconds
-- and hold_cost are sums of hold_seconds, and of hold_seconds * realized_cost, over covered sells.
-- tokens counts the tokens traded in the day, new_tokens those of them not yet traded in its month: summed over
-- the days of a month, the latter are the tokens traded in the month.
CREATE TABLE wallet_days (
    wallet_id bigint NOT NULL,
    day date NOT NULL,
    buy_txn bigint NOT NULL,
    sell_txn bigint NOT NULL,
    covered_txn bigint NOT NULL,
    buys_without_usd bigint NOT NULL,
    sells_without_usd bigint NOT NULL,
    covered_without_usd bigint NOT NULL,
    tokens bigint NOT NULL,
    new_tokens bigint NOT NULL,
    bought numeric NOT NULL,
    sold numeric NOT NULL,
    bought_usd numeric NOT NULL,
    sold_usd numeric NOT NULL,
    bought_without_usd numeric NOT NULL,
    sold_without_usd numeric NOT NULL,
    realized numeric NOT NULL,
    realized_cost numeric NOT NULL,
    realized_usd numeric NOT NULL,
    hold_seconds numeric NOT NULL,
    hold_cost numeric NOT NULL,
    PRIMARY KEY (wallet_id, day)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- On a ledger with trades, the fill does both without locking readers or imports out.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pending_fills) THEN
        CREATE INDEX positions_by_token ON positions (token_id);
        ALTER TABLE trades VALIDATE CONSTRAINT trades_have_holding;
    END IF;
END
$$;
