-- Whether the ledger has a wallet other than these, or more trades than these.
SELECT COALESCE(sum(buy_txn + sell_txn), 0) > %(trades)s
       OR EXISTS (SELECT
                    FROM wallets
                   WHERE blockchain || ' ' || address <> ALL (%(wallets)s::text[])) AS found
  FROM lifetimes
