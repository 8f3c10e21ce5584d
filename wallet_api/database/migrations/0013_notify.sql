-- Webhooks: a trade that was reported by the columns that identify it; messages that are refused, or wait for a digest.

-- What each rule reported last of a trade: event_id is the id of that, from which the id of the next one follows. is_reported is
-- false once it was taken back. reported_at is when the change arrived.
CREATE TABLE notify_trades (
    blockchain text COLLATE "C" NOT NULL,
    wallet_address text COLLATE "C" NOT NULL,
    mint text COLLATE "C" NOT NULL,
    tx_signature text COLLATE "C" NOT NULL,
    is_sell boolean NOT NULL,
    event_index integer NOT NULL,
    rule text COLLATE "C" NOT NULL,
    event_id text NOT NULL,
    is_reported boolean NOT NULL,
    traded_at timestamptz NOT NULL,
    reported_at timestamptz NOT NULL,
    PRIMARY KEY (blockchain, wallet_address, mint, tx_signature, is_sell, event_index, rule)
);

-- A process of the version before waits, and then fails until it is restarted, which loses nothing.
LOCK TABLE notify_reported IN EXCLUSIVE MODE;

-- A signature may have any letters, also those between the parts.
INSERT INTO notify_trades
SELECT split_part(subject, '|', 1),
       split_part(subject, '|', 2),
       split_part(subject, '|', 3),
       substr(subject, starts, length(subject) - starts - length(side) - length(index) - 1),
       side = 'sell',
       index::integer,
       rule,
       message_id,
       is_reported,
       traded_at,
       reported_at
  FROM (SELECT *,
               length(split_part(subject, '|', 1)) + length(split_part(subject, '|', 2))
               + length(split_part(subject, '|', 3)) + 4 AS starts,
               split_part(subject, '|', -2) AS side,
               split_part(subject, '|', -1) AS index
          FROM notify_reported) AS reported;

DROP TABLE notify_reported;

CREATE INDEX notify_trades_by_report ON notify_trades (reported_at);

ALTER TABLE notify_clusters RENAME COLUMN message_id TO event_id;

-- When the feed was last read.
ALTER TABLE notify_place ADD COLUMN read_at timestamptz;

-- How often a receiver refused a message; since when it is set aside, and with which status.
ALTER TABLE notify_messages ADD COLUMN refusals integer NOT NULL DEFAULT 0;

ALTER TABLE notify_messages ADD COLUMN refused_at timestamptz;

ALTER TABLE notify_messages ADD COLUMN status integer;

-- When the digest is due that a message is a part of.
ALTER TABLE notify_messages ADD COLUMN due_at timestamptz;

DROP INDEX notify_messages_by_target;

CREATE INDEX notify_messages_by_target ON notify_messages (target, place) WHERE refused_at IS NULL AND due_at IS NULL;

CREATE INDEX notify_messages_by_refusal ON notify_messages (target, place) WHERE refused_at IS NOT NULL;

CREATE INDEX notify_messages_by_digest ON notify_messages (due_at) WHERE due_at IS NOT NULL;

-- How many messages are set aside, and how many of the last ones in a row.
ALTER TABLE notify_targets ADD COLUMN refused bigint NOT NULL DEFAULT 0;

ALTER TABLE notify_targets ADD COLUMN refused_in_a_row integer NOT NULL DEFAULT 0;
