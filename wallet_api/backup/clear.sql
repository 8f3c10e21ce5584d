-- Drop the objects named in the setting wallet_api.restore, in an order that their dependencies allow.
-- Raises an exception if other objects depend on them, if a service is connected, or if a table contains
-- rows that must not be replaced.
DO $$
DECLARE
    task CONSTANT jsonb := current_setting('wallet_api.restore');
    statements text[] := ARRAY(SELECT jsonb_array_elements_text(task -> 'drops'));
    remaining text[];
    statement text;
    table_name text;
    has_rows boolean;
    obstacle text;
BEGIN
    FOR table_name IN SELECT jsonb_array_elements_text(task -> 'tables') LOOP
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', table_name);
    END LOOP;
    IF EXISTS (SELECT FROM pg_stat_activity
                WHERE datname = current_database()
                  AND starts_with(application_name, 'wallet-api')
                  AND pid NOT IN (pg_backend_pid(), (task ->> 'own_pid')::integer)) THEN
        RAISE EXCEPTION 'a service or a command has connected to the database; stop it first';
    END IF;
    FOR table_name IN SELECT jsonb_array_elements_text(task -> 'keep_rows_of') LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', table_name) INTO has_rows;
        IF has_rows THEN
            RAISE EXCEPTION 'rows have been added to % meanwhile', table_name;
        END IF;
    END LOOP;
    LOOP
        remaining := '{}';
        FOREACH statement IN ARRAY statements LOOP
            BEGIN
                EXECUTE statement;
            EXCEPTION WHEN dependent_objects_still_exist THEN
                GET STACKED DIAGNOSTICS obstacle = PG_EXCEPTION_DETAIL;
                remaining := remaining || statement;
            END;
        END LOOP;
        EXIT WHEN remaining = '{}';
        IF remaining = statements THEN
            RAISE EXCEPTION 'objects that do not belong to this service would be lost: %',
                            split_part(obstacle, E'\n', 1);
        END IF;
        statements := remaining;
    END LOOP;
END
$$
