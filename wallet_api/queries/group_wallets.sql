-- For other statements to include. It adds tracked, the wallets of a group. Needs wallets_by_group.
       tracked AS MATERIALIZED (
       SELECT *
         FROM wallets
        WHERE blockchain = %(blockchain)s
          AND type = ANY (%(types)s::text[])
       )
