-- Whether the ledger has a wallet other than these, or more trades than these. Counts all trades.
SELECT EXISTS (SELECT
                 FROM wallets
                WHERE blockchain || ' ' || address <> ALL (%(wallets)s::text[]))
       OR (SELECT count(*) FROM trades) > %(trades)s AS found
