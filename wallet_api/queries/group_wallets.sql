-- For other statements to include. It adds tracked (wallet_id), the wallets of a group. Needs wallets_by_group.
       tracked AS MATERIALIZED (
       SELECT wallet_id
         FROM wallets
        WHERE blockchain = %(blockchain)s
          AND type = ANY (%(types)s::text[])
       )
