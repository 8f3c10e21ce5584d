-- The order in which changes of the ledger arrive, by which a feed can be followed: docs/ledger.md.

-- Each transaction that changes trades takes this many numbers at once, of which it gives one to each chunk of its changes.
CREATE SEQUENCE arrival_numbers INCREMENT BY 4096 MINVALUE 4096;

-- arrival is the number of the chunk in which the trade's latest change arrived; many trades share it, so that its index is
-- small. 0 in trades of before this migration, until they are next walked: a rebuild walks all of them.
-- is_correction is whether that change replaced an earlier version of the trade. It comes first, where it takes less space.
ALTER TABLE trades
    ADD COLUMN is_correction boolean NOT NULL DEFAULT FALSE,
    ADD COLUMN arrival bigint NOT NULL DEFAULT 0;

-- Its keys grow: a page that is full is seldom split.
CREATE INDEX trades_by_arrival ON trades (arrival) WITH (fillfactor = 100);

-- The chunks of each transaction that changed the ledger. Until it is placed, after its commit, place, batch_id and
-- arrived_at are NULL: an order of places is an order of commits.
CREATE TABLE arrivals (
    first_chunk bigint PRIMARY KEY,
    last_chunk bigint NOT NULL,
    place bigint UNIQUE,
    batch_id uuid UNIQUE,
    arrived_at timestamptz
);

CREATE INDEX arrivals_by_placing ON arrivals (first_chunk) WHERE place IS NULL;

-- The trades that were removed, until they are imported again or their wallet is removed.
CREATE TABLE removals (
    wallet_id bigint NOT NULL,
    token_id bigint NOT NULL,
    tx_signature text COLLATE "C" NOT NULL,
    is_sell boolean NOT NULL,
    event_index integer NOT NULL,
    created_at timestamptz NOT NULL,
    arrival bigint NOT NULL,
    PRIMARY KEY (wallet_id, token_id, tx_signature, is_sell, event_index)
);

CREATE INDEX removals_by_arrival ON removals (arrival);

-- Changes of many trades at once. A row of a wallet that was removed or left its group (`wallet_removal`) has its profile;
-- is_retyped is whether it is still tracked. One of a removal of all trades before a time or in a token
-- (`purge`) has `removed_before`, or `blockchain` and `mint`.
CREATE TABLE ledger_events (
    event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    arrival bigint NOT NULL,
    event text NOT NULL,
    blockchain text,
    type text,
    address text COLLATE "C",
    name text,
    image_url text,
    twitter text,
    telegram text,
    copytrade_link text,
    is_retyped boolean NOT NULL DEFAULT FALSE,
    removed_before timestamptz,
    mint text COLLATE "C"
);

CREATE INDEX ledger_events_by_arrival ON ledger_events (arrival);
CREATE INDEX ledger_events_by_address ON ledger_events (blockchain, address);
