-- The cost of what is held in dollars. It is filled from the positions, while these tables cannot be read: docs/production.md has
-- the time.

-- open_cost_usd is the cost in dollars of what the positions hold, but of those whose cost in dollars is unknown, which
-- open_without_usd counts.
ALTER TABLE lifetimes
  ADD COLUMN open_cost_usd numeric NOT NULL DEFAULT 0,
  ADD COLUMN open_without_usd bigint NOT NULL DEFAULT 0;

UPDATE lifetimes
   SET open_cost_usd = position.open_cost_usd,
       open_without_usd = position.open_without_usd
  FROM (SELECT wallet_id,
               COALESCE(sum(cost_usd), 0) AS open_cost_usd,
               count(*) FILTER (WHERE cost_usd IS NULL) AS open_without_usd
          FROM positions
         GROUP BY wallet_id) AS position
 WHERE lifetimes.wallet_id = position.wallet_id;

ALTER TABLE lifetimes
ALTER COLUMN open_cost_usd DROP DEFAULT,
ALTER COLUMN open_without_usd DROP DEFAULT;
