-- The positions of the `fresh` trades.

-- analyze_fresh --
ANALYZE fresh (wallet_id, token_id);

-- continued --
-- The positions as they are. Needs positions_pkey.
INSERT INTO continued
  WITH changed AS MATERIALIZED (
       SELECT DISTINCT wallet_id,
              token_id
         FROM fresh
       )
SELECT positions.*
  FROM changed
  JOIN positions
    ON positions.wallet_id = changed.wallet_id
   AND positions.token_id = changed.token_id;

-- analyze_continued --
ANALYZE continued (wallet_id, token_id);

-- affected --
-- A position is late if a fresh trade replaces one of its trades, or is not later than all of them.
INSERT INTO affected
SELECT fresh.wallet_id,
       fresh.token_id,
       COALESCE(bool_or(fresh.first_arrival IS NOT NULL OR fresh.arrival > 0)
                OR min(fresh.created_at) <= continued.last_seen, FALSE) AS is_late
  FROM fresh
  LEFT JOIN continued
    ON continued.wallet_id = fresh.wallet_id
   AND continued.token_id = fresh.token_id
 GROUP BY fresh.wallet_id, fresh.token_id, continued.last_seen;

-- late --
SELECT
  FROM affected
 WHERE is_late;
