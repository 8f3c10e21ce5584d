-- What known_positions.sql adds, for Citus, which would read all positions for an outer join. Needs positions_pkey.
       known AS MATERIALIZED (
       SELECT positions.*
         FROM changed
         JOIN positions
           ON positions.wallet_id = changed.wallet_id
          AND positions.token_id = changed.token_id
       )
