-- The positions that the batch touches. One is appended to when all of the batch's trades are later than those
-- it has; the others are to be replayed.
INSERT INTO touched
  WITH changed AS (
       SELECT wallet_id,
              token_id,
              min(created_at) AS first_at
         FROM incoming
        GROUP BY wallet_id, token_id
       )
SELECT changed.wallet_id,
       changed.token_id,
       %(needs_replay)s
           OR (position.wallet_id IS NOT NULL AND changed.first_at <= position.last_seen) AS replay,
       ROW(COALESCE(position.quantity, 0),
           COALESCE(position.cost, 0),
           CASE WHEN position.wallet_id IS NULL THEN 0 ELSE position.cost_usd END,
           COALESCE(position.acquired_at, 0),
           COALESCE(position.peak, 0),
           position.token_name, NULL, NULL, NULL, NULL)::walk_state AS start,
       still_held(position.quantity, position.peak) AS was_held,
       CASE WHEN position.covered_txn > 0 AND NOT still_held(position.quantity, position.peak)
            THEN profit_bucket(position.realized, position.realized_cost)
       END AS was_bucket,
       position.last_seen
  FROM changed
  LEFT JOIN known_positions AS position
    ON position.wallet_id = changed.wallet_id
   AND position.token_id = changed.token_id
