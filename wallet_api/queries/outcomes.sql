-- What became of tokens after moments: what is kept of a full hour, and else for each of the lengths %(seconds)s the first price in
-- [moment + length, moment + 1.1 length], its change from the first one in [moment, moment + length / 10], and whether a market was
-- asked in that time, which is over, and had no pool that is large enough. Nothing after `now` counts.
-- Needs tokens_pkey, token_outcomes_pkey, native_prices_pkey, token_quotes_pkey, and what first_price.sql needs.
  WITH wanted AS MATERIALIZED (
       SELECT requested.place,
              requested.place * (cardinality(%(spans)s::text[]) + 1) AS ordinal,
              requested.moment,
              tokens.token_id,
              native_currency(tokens.blockchain) AS currency
         FROM unnest(%(token_ids)s::bigint[], %(moments)s::timestamptz[]) WITH ORDINALITY AS requested (token_id, moment, place)
         JOIN tokens
           ON tokens.token_id = requested.token_id
       ),
       -- The number 0 is where all begin, in the longest of these times.
       part AS (
       SELECT number,
              span,
              seconds AS starts,
              seconds * 11 / 10 AS ends
         FROM unnest(%(spans)s::text[], %(seconds)s::integer[]) WITH ORDINALITY AS listed (span, seconds, number)
        UNION ALL
       SELECT 0,
              NULL,
              0,
              max(seconds) / 10
         FROM unnest(%(seconds)s::integer[]) AS seconds
       ),
       kept AS MATERIALIZED (
       SELECT wanted.place,
              part.number,
              outcome.price,
              outcome.price_at,
              outcome.source,
              outcome.change_percent
         FROM wanted
         JOIN token_outcomes AS outcome
           ON outcome.token_id = wanted.token_id
          AND outcome.hour = wanted.moment
         JOIN part
           ON part.starts = outcome.span_seconds
       ),
       span AS MATERIALIZED (
       SELECT wanted.ordinal + part.number AS ordinal,
              wanted.token_id,
              NULL::bigint AS wallet_id,
              bounds.starts_at,
              LEAST(bounds.ends_at, %(now)s) AS ends_at,
              bounds.ends_at < %(now)s AS is_over,
              native.usd
         FROM wanted
        CROSS JOIN part
        CROSS JOIN LATERAL (
              SELECT wanted.moment + part.starts * interval '1 second' AS starts_at,
                     wanted.moment + part.ends * interval '1 second' AS ends_at) AS bounds
         LEFT JOIN LATERAL (
              SELECT price.usd
                FROM native_prices AS price
               WHERE price.currency = wanted.currency
                 AND price.priced_at <= bounds.starts_at
               ORDER BY price.priced_at DESC
               LIMIT 1) AS native
           ON TRUE
        WHERE bounds.starts_at <= %(now)s
          AND wanted.place NOT IN (SELECT place
                                     FROM kept
                                    WHERE number = cardinality(%(spans)s::text[]))
       ),
{ledger.first_price},
       gone AS MATERIALIZED (
       SELECT span.ordinal
         FROM span
         JOIN quoted
           ON quoted.ordinal = span.ordinal
        WHERE span.is_over
        GROUP BY span.ordinal
       HAVING bool_and(COALESCE(quoted.not_used, '') IN ('missing', 'thin'))
       )
SELECT wanted.token_id,
       wanted.moment,
       part.span,
       round_price(COALESCE(kept.price, ending.price)) AS price,
       iso_time(COALESCE(kept.price_at, ending.price_at)) AS price_at,
       COALESCE(kept.source, ending.source) AS source,
       CASE WHEN kept.place IS NOT NULL THEN kept.change_percent
            WHEN ending.price IS NOT NULL THEN percentage(ending.price - beginning.price, beginning.price)
            ELSE -100
       END AS change_percent,
       CASE WHEN COALESCE(kept.price, ending.price) IS NULL THEN TRUE END AS gone
  FROM wanted
 CROSS JOIN part
  LEFT JOIN kept
    ON kept.place = wanted.place
   AND kept.number = part.number
  LEFT JOIN first_price AS beginning
    ON kept.place IS NULL
   AND beginning.ordinal = wanted.ordinal
   AND beginning.price_at <= wanted.moment + part.starts / 10 * interval '1 second'
  LEFT JOIN first_price AS ending
    ON kept.place IS NULL
   AND ending.ordinal = wanted.ordinal + part.number
  LEFT JOIN gone
    ON gone.ordinal = wanted.ordinal + part.number
 WHERE part.number > 0
   AND CASE WHEN kept.place IS NOT NULL THEN kept.change_percent IS NOT NULL
            WHEN ending.price IS NOT NULL THEN beginning.price IS NOT NULL
            ELSE gone.ordinal IS NOT NULL
       END
