-- The signals of full hours, and what became of their tokens: docs/figures.md.

-- The tokens of the signals of a group at an hour by the default options, and those that it bought for the first time of the day
-- ('base'). They are written once. `decided` is for how many of the spans, the shortest first, token_outcomes has all of these tokens.
CREATE TABLE signal_hours (
    blockchain text NOT NULL,
    type text NOT NULL,
    hour timestamptz NOT NULL,
    kind text NOT NULL,
    token_ids bigint[] NOT NULL,
    decided integer NOT NULL DEFAULT 0,
    PRIMARY KEY (blockchain, type, hour, kind)
);

CREATE INDEX signal_hours_by_due ON signal_hours (hour) WHERE decided < 3;

-- What became of a token a span after an hour, decided once, when the time in which a price counts is over. A token that was gone
-- has a change of -100 and no price; where nothing is known all are NULL.
CREATE TABLE token_outcomes (
    token_id bigint NOT NULL,
    hour timestamptz NOT NULL,
    span_seconds integer NOT NULL,
    price numeric,
    price_at timestamptz,
    source text,
    change_percent numeric,
    PRIMARY KEY (token_id, hour, span_seconds)
);
