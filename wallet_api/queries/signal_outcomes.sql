-- What became of the kept signals of a group, and of its base, after each span: of a token at the first hour of each day of UTC.
-- Needs signal_hours_pkey, token_outcomes_pkey.
  WITH kept AS MATERIALIZED (
       SELECT kind,
              hour,
              token_ids
         FROM signal_hours
        WHERE blockchain = %(blockchain)s
          AND type = %(type)s
          AND kind IN (%(signal)s, 'base')
          AND hour >= %(since)s
          AND hour < %(until)s
       ),
       began AS MATERIALIZED (
       SELECT kept.kind,
              token.token_id,
              min(kept.hour) AS hour
         FROM kept
        CROSS JOIN LATERAL unnest(kept.token_ids) AS token (token_id)
        GROUP BY kept.kind, token.token_id, date_trunc('day', kept.hour, 'UTC')
       ),
       change AS MATERIALIZED (
       SELECT began.kind,
              outcome.span_seconds,
              outcome.change_percent,
              outcome.price IS NULL AS is_gone
         FROM began
         JOIN token_outcomes AS outcome
           ON outcome.token_id = began.token_id
          AND outcome.hour = began.hour
        WHERE outcome.change_percent IS NOT NULL
       ),
       figure AS (
       SELECT kind,
              span_seconds,
              count(*) FILTER (WHERE NOT is_gone) AS known,
              count(*) FILTER (WHERE is_gone) AS gone,
              -- Of an even number the two in the middle.
              round_half_up((percentile_disc(0.5) WITHIN GROUP (ORDER BY change_percent)
                             + percentile_disc(0.5) WITHIN GROUP (ORDER BY change_percent DESC)) / 2, 4)
              AS median_change_percent,
              percentage(count(*) FILTER (WHERE change_percent > 0), count(*)) AS share_up,
              percentage(count(*) FILTER (WHERE change_percent >= 100), count(*)) AS share_doubled,
              percentage(count(*) FILTER (WHERE change_percent <= -50), count(*)) AS share_halved
         FROM change
        GROUP BY kind, span_seconds
       ),
       shown AS (
       SELECT row_number() OVER (ORDER BY span.seconds, which.place) AS place,
              span.span,
              which."of",
              (SELECT count(*)
                 FROM began
                WHERE began.kind = which.kind) AS signals,
              COALESCE(figure.known, 0) AS known,
              COALESCE(figure.gone, 0) AS gone,
              figure.median_change_percent,
              figure.share_up,
              figure.share_doubled,
              figure.share_halved
         FROM unnest(%(spans)s::text[], %(seconds)s::integer[]) AS span (span, seconds)
        CROSS JOIN (VALUES (1, 'signals', %(signal)s::text), (2, 'base', 'base')) AS which (place, "of", kind)
         LEFT JOIN figure
           ON figure.kind = which.kind
          AND figure.span_seconds = span.seconds
       ),
       head AS (
       SELECT 1 AS place,
              (SELECT count(DISTINCT hour)
                 FROM kept
                WHERE hour < %(due)s) AS hours
       )
{lists: shown}
