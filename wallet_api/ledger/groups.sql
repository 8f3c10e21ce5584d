-- Recount the wallets of each group; as many rows are changed as counts were wrong.
INSERT INTO wallet_groups AS kept (blockchain, type, wallet_count)
SELECT blockchain,
       type,
       sum(counted)
  FROM (SELECT blockchain,
               type,
               1 AS counted
          FROM wallets
         UNION ALL
        SELECT blockchain,
               type,
               0
          FROM wallet_groups) AS wallet
 GROUP BY blockchain, type
    ON CONFLICT (blockchain, type) DO UPDATE
   SET wallet_count = excluded.wallet_count
 WHERE kept.wallet_count <> excluded.wallet_count
