-- How soon trades are in the ledger after their block.

-- add --
-- Add new trades to their buckets. Needs sync_delays_pkey.
INSERT INTO sync_delays AS counts (blockchain, at_most, trades, seconds)
SELECT %(blockchain)s,
       given.at_most,
       given.trades,
       given.seconds
  FROM unnest(%(at_most)s::double precision[], %(trades)s::bigint[], %(seconds)s::double precision[])
       AS given (at_most, trades, seconds)
    ON CONFLICT (blockchain, at_most) DO UPDATE
   SET trades = counts.trades + excluded.trades,
       seconds = counts.seconds + excluded.seconds;

-- all --
-- The buckets of each chain, the smallest first. Needs sync_delays_pkey.
SELECT blockchain,
       at_most,
       trades,
       seconds
  FROM sync_delays
 ORDER BY blockchain, at_most
