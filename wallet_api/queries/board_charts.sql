-- For statements of leaderboards to include, after their CTE sold (wallet_id, moment, realized), which is empty without a
-- chart: what sells realized, each at a moment of the step in which it was. It adds charted: the profit of each wallet at the
-- end of each step that changed it. The steps are numbered from 0, the last one ends now.
       charted AS (
       SELECT wallet_id,
              array_agg(place ORDER BY place) AS chart_places,
              array_agg(round_half_up(cumulated, 9) ORDER BY place) AS chart_profits
         FROM (SELECT wallet_id,
                      place,
                      sum(sum(realized)) OVER (PARTITION BY wallet_id ORDER BY place) AS cumulated
                 FROM (SELECT wallet_id,
                              realized,
                              LEAST(GREATEST(floor(extract(epoch FROM moment) / %(step_seconds)s::bigint)::bigint
                                             - %(first_step)s::bigint, 0), %(last_step)s::bigint - %(first_step)s::bigint) AS place
                         FROM sold) AS stepped
                GROUP BY wallet_id, place) AS point
        GROUP BY wallet_id)
