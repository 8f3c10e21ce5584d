-- What a node has returned to a search for wallets that is not whole, so that the same command goes on from it: docs/first-wallets.md.

-- Of a search, which is called after its file. `call` is the hash of the node's address and the call; `result` is compressed JSON.
CREATE TABLE discovery_results (
    search text NOT NULL,
    call bytea NOT NULL,
    result bytea NOT NULL,
    kept_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (search, call)
);
