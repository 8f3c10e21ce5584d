-- The wallets of a group, as a CTE. Needs wallets_by_group.
       tracked AS MATERIALIZED (
       SELECT wallet_id
         FROM wallets
        WHERE blockchain = %(blockchain)s
          AND type = %(type)s
       )
