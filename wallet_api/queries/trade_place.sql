-- For lists of trades to include: the place of a trade in its chain, and whether it is final. The newest final block of its chain
-- (finality.final_block) is in scope, NULL where no sync reads the chain.
              block,
              block_index,
              (block <= finality.final_block) IS NOT FALSE AS final
