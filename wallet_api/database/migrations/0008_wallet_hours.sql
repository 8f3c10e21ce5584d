-- The sums of a wallet over an hour, of the last 32 days, from which trackers count active hours and draw charts. They are filled
-- from the trades that there are.
CREATE TABLE wallet_hours (
    wallet_id bigint NOT NULL,
    starts_at timestamptz NOT NULL,
    buy_txn bigint NOT NULL,
    sell_txn bigint NOT NULL,
    covered_txn bigint NOT NULL,
    realized numeric NOT NULL,
    realized_usd numeric NOT NULL,
    PRIMARY KEY (wallet_id, starts_at)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

INSERT INTO wallet_hours
SELECT wallet_id,
       date_bin('1 hour', created_at, 'epoch'),
       count(*) FILTER (WHERE NOT is_sell),
       count(*) FILTER (WHERE is_sell),
       count(realized_cost),
       COALESCE(sum(realized), 0),
       COALESCE(sum(realized_usd), 0)
  FROM trades
 WHERE created_at >= date_bin('1 hour', now() - interval '32 days', 'epoch')
 GROUP BY wallet_id, date_bin('1 hour', created_at, 'epoch');
