-- Webhooks: up to where the feed was read, what was reported of it, and what waits to be sent. Plain tables of the coordinator.

CREATE TABLE notify_place (
    is_only boolean PRIMARY KEY DEFAULT TRUE CHECK (is_only),
    cursor text NOT NULL
);

-- What each rule reported last of a subject: a trade, or a cluster of trades in a token. message_id is that of its message, of which
-- the id of the next one follows. is_reported is false once a message took it back.
CREATE TABLE notify_reported (
    subject text COLLATE "C" NOT NULL,
    rule text COLLATE "C" NOT NULL,
    message_id text NOT NULL,
    is_reported boolean NOT NULL,
    traded_at timestamptz NOT NULL,
    PRIMARY KEY (subject, rule)
);

-- The messages that wait, in their order.
CREATE TABLE notify_messages (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target text COLLATE "C" NOT NULL,
    rule text NOT NULL,
    message_id text NOT NULL,
    body text NOT NULL,
    arrived_at timestamptz NOT NULL
);

CREATE INDEX notify_messages_by_target ON notify_messages (target, place);

CREATE TABLE notify_targets (
    target text COLLATE "C" PRIMARY KEY,
    delivered bigint NOT NULL DEFAULT 0,
    held_back bigint NOT NULL DEFAULT 0,
    dropped bigint NOT NULL DEFAULT 0,
    delivered_at timestamptz,
    delay_seconds numeric,
    failures bigint NOT NULL DEFAULT 0,
    failing_since timestamptz,
    failure text,
    paused_at timestamptz
);
