-- A digest of which wallets are tracked.
SELECT md5(COALESCE(string_agg(blockchain || ' ' || address, ',' ORDER BY blockchain, address), '')) AS digest
  FROM wallets
