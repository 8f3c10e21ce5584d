-- The positions that the fresh trades touch. One goes on from its state when all of its fresh trades are
-- new and later than what it has; otherwise all of its trades are walked again. Needs positions_pkey.
INSERT INTO touched
SELECT changed.wallet_id,
       changed.token_id,
       changed.rewalk,
       CASE WHEN changed.rewalk OR position.wallet_id IS NULL
            THEN ROW(0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL)::walk_state
            ELSE ROW(position.quantity, position.cost, position.cost_usd, position.acquired_at, position.peak,
                     position.token_name, NULL, NULL, NULL, NULL)::walk_state
       END AS start
  FROM (SELECT fresh.wallet_id,
               fresh.token_id,
               bool_or(fresh.corrects)
               OR COALESCE(min(fresh.created_at) <= min(known.last_seen), FALSE) AS rewalk
          FROM fresh
          LEFT JOIN positions AS known
            ON known.wallet_id = fresh.wallet_id
           AND known.token_id = fresh.token_id
         GROUP BY fresh.wallet_id, fresh.token_id) AS changed
  LEFT JOIN positions AS position
    ON position.wallet_id = changed.wallet_id
   AND position.token_id = changed.token_id
