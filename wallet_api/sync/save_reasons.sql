-- Add a round to what was left out by chain and reason. Needs sync_reasons_pkey.
INSERT INTO sync_reasons AS counts (blockchain, reason, total, last_round)
SELECT *
  FROM unnest(%(blockchains)s::text[], %(reasons)s::text[], %(new)s::bigint[], %(met)s::bigint[])
    ON CONFLICT (blockchain, reason) DO UPDATE
   SET total = counts.total + excluded.total,
       last_round = excluded.last_round
