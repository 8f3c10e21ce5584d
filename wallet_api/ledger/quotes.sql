-- The quotes of tokens: what is kept of them, and the newest one that is used.

-- staging --
CREATE TEMP TABLE IF NOT EXISTS incoming_quotes (
    line_number bigint NOT NULL,
    line bytea NOT NULL,
    token_id bigint NOT NULL,
    quoted_at timestamptz NOT NULL,
    usd numeric,
    liquidity_usd numeric
);

-- clear --
TRUNCATE incoming_quotes;

-- repeated --
-- The rows of the times that the file has more than once of a token with different values.
SELECT *
  FROM incoming_quotes
 WHERE (token_id, quoted_at) IN (
       SELECT token_id,
              quoted_at
         FROM incoming_quotes
        GROUP BY token_id, quoted_at
       HAVING min(usd) <> max(usd)
           OR min(liquidity_usd) <> max(liquidity_usd))
 ORDER BY token_id, quoted_at, line_number;

-- reject --
DELETE FROM incoming_quotes
 WHERE line_number = ANY (%(line_numbers)s);

-- sizes --
-- How many quotes there are of each token.
SELECT token_id,
       count(*) AS quotes
  FROM incoming_quotes
 GROUP BY token_id
 ORDER BY token_id;

-- incoming --
-- The quotes of some tokens in the order of time, each with its price in the native coin by the native price nearest it, and with
-- the newest trade of the day before that makes a price. Needs tokens_pkey, native_prices_pkey, and what prices_before needs.
SELECT trade.token_id,
       trade.created_at AS quoted_at,
       trade.usd,
       trade.liquidity_usd,
       small_quotient(trade.usd, nearest_price.usd) AS price,
       last.price AS trade_price,
       last.price_at AS traded_at
  FROM (SELECT DISTINCT
               incoming_quotes.token_id,
               incoming_quotes.quoted_at AS created_at,
               incoming_quotes.usd,
               incoming_quotes.liquidity_usd,
               native_currency(tokens.blockchain) AS currency,
               incoming_quotes.usd IS NOT NULL AS wants_price
          FROM incoming_quotes
          JOIN tokens
            ON tokens.token_id = incoming_quotes.token_id
         WHERE incoming_quotes.token_id = ANY (%(token_ids)s::bigint[])) AS trade
{nearest_price}
  LEFT JOIN LATERAL prices_before(ARRAY[trade.token_id], trade.created_at, trade.created_at - interval '1 day',
                                  nearest_price.usd, %(price_min_usd)s) AS last
    ON nearest_price.usd IS NOT NULL
 ORDER BY trade.token_id, trade.created_at;

-- known --
-- The stored quotes of these tokens that decide about the others: the used and far ones from a day before the first one until the
-- last one. Mostly all are older than what comes in, and the newest used one is enough.
-- Needs token_quotes_pkey, far_quotes_by_token, market_prices_pkey.
  WITH span AS MATERIALIZED (
       SELECT incoming_quotes.token_id,
              min(incoming_quotes.quoted_at) AS first_at,
              max(incoming_quotes.quoted_at) AS last_at,
              min(newest.quoted_at) AS newest_at,
              min(newest.price) AS newest_price
         FROM incoming_quotes
         LEFT JOIN market_prices AS newest
           ON newest.token_id = incoming_quotes.token_id
        WHERE incoming_quotes.token_id = ANY (%(token_ids)s::bigint[])
        GROUP BY incoming_quotes.token_id
       )
SELECT token_id,
       newest_at AS quoted_at,
       newest_price AS price,
       FALSE AS is_far
  FROM span
 WHERE newest_at < first_at
 UNION
SELECT span.token_id,
       quote.quoted_at,
       quote.price,
       FALSE
  FROM span
  JOIN token_quotes AS quote
    ON quote.token_id = span.token_id
   AND quote.span_seconds IN (60, 3600)
   AND quote.starts_at >= span.first_at - interval '25 hours'
   AND quote.starts_at <= span.last_at
 WHERE span.newest_at >= span.first_at
   AND quote.not_used IS NULL
 UNION
SELECT span.token_id,
       quote.quoted_at,
       quote.price,
       TRUE
  FROM span
  JOIN token_quotes AS quote
    ON quote.token_id = span.token_id
   AND quote.quoted_at >= span.first_at - interval '1 day'
   AND quote.quoted_at <= span.last_at
 WHERE quote.not_used = 'far'
 ORDER BY token_id;

-- keep --
-- Keep the last quote of each minute and of each hour that is kept, a used one before one that is not. Return for each of them that
-- changed whether it is that of an hour. Needs token_quotes_pkey.
INSERT INTO token_quotes AS kept (token_id, span_seconds, starts_at, quoted_at, usd, price, liquidity_usd, not_used)
SELECT DISTINCT ON (judged.token_id, span.seconds, bucket.starts_at)
       judged.token_id,
       span.seconds,
       bucket.starts_at,
       judged.quoted_at,
       judged.usd,
       judged.price,
       judged.liquidity_usd,
       judged.not_used
  FROM unnest(%(token_ids)s::bigint[], %(times)s::timestamptz[], %(usd)s::numeric[], %(prices)s::numeric[],
              %(liquidity_usd)s::numeric[], %(not_used)s::text[])
       AS judged (token_id, quoted_at, usd, price, liquidity_usd, not_used)
 CROSS JOIN (VALUES (60, %(minutes_since)s::timestamptz), (3600, %(hours_since)s::timestamptz)) AS span (seconds, since)
 CROSS JOIN LATERAL (
       SELECT date_bin(span.seconds * interval '1 second', judged.quoted_at, 'epoch') AS starts_at) AS bucket
 WHERE judged.quoted_at >= span.since
 ORDER BY judged.token_id, span.seconds, bucket.starts_at, (judged.not_used IS NULL) DESC, judged.quoted_at DESC
    ON CONFLICT (token_id, span_seconds, starts_at) DO UPDATE
   SET quoted_at = excluded.quoted_at,
       usd = excluded.usd,
       price = excluded.price,
       liquidity_usd = excluded.liquidity_usd,
       not_used = excluded.not_used
 WHERE (excluded.quoted_at = kept.quoted_at
        OR (excluded.not_used IS NULL, excluded.quoted_at) > (kept.not_used IS NULL, kept.quoted_at))
   AND (excluded.quoted_at, excluded.usd, excluded.price, excluded.liquidity_usd, excluded.not_used)
       IS DISTINCT FROM (kept.quoted_at, kept.usd, kept.price, kept.liquidity_usd, kept.not_used)
RETURNING (kept.span_seconds = 3600)::integer AS hour;

-- newest --
-- Keep the newest of these quotes of each token that is used, unless a newer one is known. Needs market_prices_pkey.
INSERT INTO market_prices AS kept (token_id, quoted_at, price, liquidity_usd)
SELECT DISTINCT ON (token_id)
       token_id,
       quoted_at,
       price,
       liquidity_usd
  FROM unnest(%(token_ids)s::bigint[], %(times)s::timestamptz[], %(prices)s::numeric[], %(liquidity_usd)s::numeric[],
              %(not_used)s::text[])
       AS judged (token_id, quoted_at, price, liquidity_usd, not_used)
 WHERE not_used IS NULL
 ORDER BY token_id, quoted_at DESC
    ON CONFLICT (token_id) DO UPDATE
   SET quoted_at = excluded.quoted_at,
       price = excluded.price,
       liquidity_usd = excluded.liquidity_usd
 WHERE kept.quoted_at IS NULL
    OR kept.quoted_at <= excluded.quoted_at;

-- withdrawn --
-- Where the newest quote that was used has been corrected to one that is not, the last one of an hour takes its place.
-- Needs market_prices_pkey, and what quotes_before needs.
UPDATE market_prices AS kept
   SET quoted_at = found.quoted_at,
       price = found.price,
       liquidity_usd = found.liquidity_usd
  FROM unnest(%(token_ids)s::bigint[], %(times)s::timestamptz[], %(not_used)s::text[])
       AS judged (token_id, quoted_at, not_used)
  LEFT JOIN LATERAL quotes_before(ARRAY[judged.token_id], 'infinity', '-infinity') AS found
    ON TRUE
 WHERE judged.not_used IS NOT NULL
   AND kept.token_id = judged.token_id
   AND kept.quoted_at = judged.quoted_at;

-- asked --
-- Note when these tokens were asked for. Needs market_prices_pkey.
INSERT INTO market_prices AS kept (token_id, asked_at)
SELECT DISTINCT
       token_id,
       %(asked_at)s::timestamptz
  FROM unnest(%(token_ids)s::bigint[]) AS token_id
    ON CONFLICT (token_id) DO UPDATE
   SET asked_at = excluded.asked_at;

-- purge --
-- Needs token_quotes_by_time.
DELETE FROM token_quotes
 WHERE (span_seconds = 60 AND starts_at < %(minutes_since)s)
    OR (span_seconds = 3600 AND starts_at < %(hours_since)s);

-- purge_newest --
-- All of market_prices is read.
DELETE FROM market_prices
 WHERE COALESCE(quoted_at, asked_at) < %(hours_since)s;
