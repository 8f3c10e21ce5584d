-- What each group did in each token in a day, so that the tokens that most of its wallets traded are not summed from the days of each
-- wallet. It is the sum of position_days in every transaction, also where a wallet's rows are still to be filled.
CREATE TABLE token_days (
    token_id bigint NOT NULL,
    type text NOT NULL,
    day date NOT NULL,
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
    PRIMARY KEY (token_id, type, day)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

INSERT INTO token_days
SELECT token_id,
       type,
       day,
       sum(buy_txn),
       sum(sell_txn),
       sum(covered_txn),
       sum(buys_without_usd),
       sum(sells_without_usd),
       sum(invested),
       sum(sold),
       sum(invested_usd),
       sum(sold_usd),
       sum(invested_without_usd),
       sum(sold_without_usd),
       sum(realized),
       sum(realized_usd),
       sum(covered_without_usd)
  FROM position_days
  JOIN wallets
 USING (wallet_id)
 GROUP BY token_id, type, day
 ORDER BY day, token_id, type;
