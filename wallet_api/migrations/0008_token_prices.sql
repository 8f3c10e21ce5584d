-- What prices of tokens are made of, and the trades of a token by time. Nothing here reads the rows of a large table:
-- `wallet-api migrate` fills it afterwards. docs/ledger.md describes the tables.

-- The newest trade in each token whose value is above 0, of any wallet, in the order of the feed; price is its value /
-- token_amount. A token without such a trade has no row. Which trades are fit for a price is decided at the request.
CREATE TABLE token_prices (
    token_id bigint PRIMARY KEY,
    created_at timestamptz NOT NULL,
    value numeric NOT NULL,
    value_usd numeric,
    price numeric NOT NULL
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

INSERT INTO pending_fills (name)
SELECT '0008_token_prices'
  FROM trades
 LIMIT 1;

-- On a ledger with trades, the fill does it without locking readers or imports out.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pending_fills WHERE name = '0008_token_prices') THEN
        CREATE INDEX trades_by_token ON trades (token_id, created_at);
    END IF;
END
$$;
