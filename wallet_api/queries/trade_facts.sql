-- For lists of trades to include: what all show of a trade of their CTE candidate, with its place in its chain and whether it is
-- final. The newest final block of its chain (finality.final_block) is in scope, NULL where no sync reads the chain.
              candidate.tx_signature,
              candidate.event_index,
              CASE WHEN candidate.is_sell THEN 'sell' ELSE 'buy' END AS transaction_type,
              round_half_up(candidate.token_amount, 18) AS token_amount,
              iso_time(candidate.created_at) AS created_at,
              candidate.block,
              candidate.block_index,
              (candidate.block <= finality.final_block) IS NOT FALSE AS final,
              -- NULL in all trades but covered sells.
              round_half_up(candidate.realized, 9) AS realized_pnl,
              round_half_up(candidate.realized_usd, 4) AS realized_pnl_usd,
              round_half_up(candidate.realized_cost, 9) AS cost,
              round_half_up(fees_of(candidate.is_sell, candidate.value, candidate.exchanged_value), 9) AS fees
