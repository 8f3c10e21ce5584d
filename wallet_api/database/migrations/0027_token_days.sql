-- What the wallets of a type did in each token in a day, so that the tokens that most of them traded are not summed from the days of
-- each wallet.
CREATE TABLE token_days (
    day date NOT NULL,
    token_id bigint NOT NULL,
    type text NOT NULL,
    buy_txn bigint NOT NULL,
    sell_txn bigint NOT NULL,
    covered_txn bigint NOT NULL,
    buys_without_usd bigint NOT NULL,
    sells_without_usd bigint NOT NULL,
    invested numeric NOT NULL,
    sold numeric NOT NULL,
    invested_usd numeric NOT NULL,
    sold_usd numeric NOT NULL,
    invested_without_usd numeric NOT NULL,
    sold_without_usd numeric NOT NULL,
    realized numeric NOT NULL,
    realized_usd numeric NOT NULL,
    covered_without_usd bigint NOT NULL,
    PRIMARY KEY (day, token_id, type)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- Of tokens alone: after all wallets.
UPDATE wallet_fill
   SET done_until = COALESCE(done_until, 9223372036854775807)
 WHERE EXISTS (SELECT FROM wallets);
