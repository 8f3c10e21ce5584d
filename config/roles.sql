-- The database roles of a production service, each with the least that its work needs. As a superuser, in the
-- database of the service (which wallet_api_owner owns), once before the first `wallet-api migrate` and again
-- after every one; run again it changes nothing. Passwords are yours to set: \password wallet_api_service
--
-- role                 who                                        may
-- wallet_api_owner     `wallet-api migrate`                       everything in this database
-- wallet_api_writer    `wallet-api import`, `sync`, `keys`, ...   read and write rows
-- wallet_api_service   DATABASE_URL of the web processes          read; write credits, snapshots of balances, places of the feed
-- wallet_api_reader    DATABASE_READ_URL and backups               read, also the hashes of keys and the secret of cursors
-- wallet_api_analyst   people with SQL (docs/ledger.md)           read the ledger, and neither keys nor secrets

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['wallet_api_owner', 'wallet_api_writer', 'wallet_api_service', 'wallet_api_reader',
                               'wallet_api_analyst']
    LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION', name);
        END IF;
    END LOOP;
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT, CREATE, TEMPORARY ON DATABASE %I TO wallet_api_owner', current_database());
    -- Imports stage their rows in temporary tables.
    EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO wallet_api_writer', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO wallet_api_service, wallet_api_reader, wallet_api_analyst',
                   current_database());
END
$$;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO wallet_api_owner;
GRANT USAGE ON SCHEMA public TO wallet_api_writer, wallet_api_service, wallet_api_reader, wallet_api_analyst;

-- Whatever exists, and whatever a later migration makes.
GRANT SELECT ON ALL TABLES IN SCHEMA public TO wallet_api_writer, wallet_api_service, wallet_api_reader;
GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO wallet_api_writer;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO wallet_api_writer;
-- A backup contains where the sequences stand.
GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO wallet_api_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE wallet_api_owner IN SCHEMA public
    GRANT SELECT ON TABLES TO wallet_api_writer, wallet_api_service, wallet_api_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE wallet_api_owner IN SCHEMA public
    GRANT INSERT, UPDATE, DELETE ON TABLES TO wallet_api_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE wallet_api_owner IN SCHEMA public
    GRANT USAGE ON SEQUENCES TO wallet_api_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE wallet_api_owner IN SCHEMA public
    GRANT SELECT ON SEQUENCES TO wallet_api_reader;

DO $$
BEGIN
    IF to_regclass('public.schema_migrations') IS NULL THEN
        RETURN;
    END IF;
    -- By name, so that no later table with a secret is among them.
    GRANT SELECT ON ledger_trades, ledger_positions, wallets, wallet_groups, tokens, token_faces, native_prices, token_prices,
                    token_quotes, market_prices, trades, positions, lifetimes, position_days, wallet_days, wallet_hours, volume_rollup,
                    token_days, signal_hours, token_outcomes
       TO wallet_api_analyst;
    -- What has been migrated is the owner's to say.
    REVOKE INSERT, UPDATE, DELETE ON schema_migrations FROM wallet_api_writer;
    -- The web processes charge credits, count the use of keys and keep snapshots of balances, and can write nothing
    -- else: no key, no rate, no wallet, no trade.
    GRANT UPDATE (credits, credits_month) ON api_keys TO wallet_api_service;
    GRANT INSERT, UPDATE ON holdings_snapshots TO wallet_api_service;
    -- Who reads the feed gives a place in its order to changes whose writer was killed before it could.
    GRANT UPDATE (place, batch_id, arrived_at) ON arrivals TO wallet_api_service;
    GRANT INSERT, UPDATE ON key_use TO wallet_api_service;
    -- Keys are revoked, never deleted.
    REVOKE DELETE ON api_keys FROM wallet_api_writer;
END
$$;
