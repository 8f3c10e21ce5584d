-- How many wallets each of these groups has. Needs wallet_groups_pkey.
SELECT tracked.blockchain,
       tracked.type,
       COALESCE(wallet_groups.wallet_count, 0) AS wallet_count
  FROM unnest(%(blockchains)s::text[], %(types)s::text[]) AS tracked (blockchain, type)
  LEFT JOIN wallet_groups
    ON wallet_groups.blockchain = tracked.blockchain
   AND wallet_groups.type = tracked.type
