-- What API keys may be used for: chains, types of wallets and operations, at once.

-- NULL is any. Operations have the names of the OpenAPI document.
ALTER TABLE api_keys
    ADD COLUMN chains text[] CHECK (cardinality(chains) > 0),
    ADD COLUMN types text[] CHECK (cardinality(types) > 0),
    ADD COLUMN operations text[] CHECK (cardinality(operations) > 0);
