-- The tokens of the affected positions, and when their newest trade that was put in took place.
INSERT INTO priced
SELECT affected.token_id,
       max(walked.created_at) FILTER (
           WHERE walked.value > 0
             AND walked.exchanged_value IS DISTINCT FROM 0) AS newest_at
  FROM (SELECT DISTINCT token_id FROM affected) AS affected
  LEFT JOIN walked
    ON walked.token_id = affected.token_id
 GROUP BY affected.token_id
