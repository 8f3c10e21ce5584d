-- What known_repeats.sql adds, for Citus, which would read all trades for an outer join. Needs trades_pkey.
       known AS MATERIALIZED (
       SELECT trades.wallet_id,
              trades.token_id,
              trades.tx_signature,
              trades.is_sell,
              trades.event_index,
              trades.created_at,
              trades.token_name,
              trades.token_amount,
              trades.value,
              trades.value_usd,
              trades.usd_derived,
              trades.exchanged_value
         FROM repeated
         JOIN trades
           ON trades.wallet_id = repeated.wallet_id
          AND trades.token_id = repeated.token_id
          AND trades.tx_signature = repeated.tx_signature
          AND trades.is_sell = repeated.is_sell
          AND trades.event_index = repeated.event_index
       )
