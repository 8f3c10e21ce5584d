-- What tokens cost on markets, as a provider or a file quotes it: docs/figures.md.

-- Of each minute the last quote of a token, for two days, and of each hour the last one, for 90 days; one that is used goes before
-- one that is not. usd is NULL where the provider was asked and had no price; price, in the native coin, where no native price
-- is near. not_used is why the quote makes no price: missing, thin, unpriced or far; NULL if it does.
CREATE TABLE token_quotes (
    token_id bigint NOT NULL,
    span_seconds integer NOT NULL,
    starts_at timestamptz NOT NULL,
    quoted_at timestamptz NOT NULL,
    usd numeric,
    price numeric,
    liquidity_usd numeric,
    not_used text,
    PRIMARY KEY (token_id, span_seconds, starts_at)
) WITH (fillfactor = 90);

CREATE INDEX token_quotes_by_time ON token_quotes (span_seconds, starts_at);

CREATE INDEX far_quotes_by_token ON token_quotes (token_id, quoted_at) WHERE not_used = 'far';

-- Of each token when it was last asked for, and the newest quote that is used. asked_at is NULL of a token that only files quote;
-- the others are NULL as long as no quote was used.
CREATE TABLE market_prices (
    token_id bigint PRIMARY KEY,
    asked_at timestamptz,
    quoted_at timestamptz,
    price numeric,
    liquidity_usd numeric
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- Of each token the newest quote that is used, of the hours that were over at `moment`, and not from before `oldest`. A token without
-- one has no row.
-- Needs token_quotes_pkey.
CREATE FUNCTION quotes_before(token_ids bigint[], moment timestamptz, oldest timestamptz)
RETURNS TABLE (token_id bigint, price numeric, quoted_at timestamptz, liquidity_usd numeric)
LANGUAGE plpgsql STABLE ROWS 10
AS $$
#variable_conflict use_column
DECLARE
    wanted bigint;
BEGIN
    FOREACH wanted IN ARRAY token_ids LOOP
        RETURN QUERY
        SELECT wanted,
               quote.price,
               quote.quoted_at,
               quote.liquidity_usd
          FROM public.token_quotes AS quote
         WHERE quote.token_id = wanted
           AND quote.span_seconds = 3600
           AND quote.starts_at <= moment - interval '1 hour'
           AND quote.starts_at > oldest - interval '1 hour'
           AND quote.quoted_at >= oldest
           AND quote.not_used IS NULL
         ORDER BY quote.starts_at DESC
         LIMIT 1;
    END LOOP;
END
$$;
