-- The first row of a statement over the rows of a wallet's shard, and over tables of which each worker has a copy. Citus
-- delegates the call to the wallet's worker. There the statement is prepared once for each shard, with the shard's own
-- tables, so that it is planned neither on the coordinator nor on the worker at each call.
CREATE OR REPLACE FUNCTION wallet_api_shards.run_on_shard(wallet_id bigint, statement text, arguments text[])
RETURNS SETOF record
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS
$$
DECLARE
    shard bigint := get_shard_id_for_distribution_column('public.trades', wallet_id);
    name text := 'shard_' || shard || '_' || md5(statement);
    run text := 'EXECUTE ' || name || (SELECT '(' || string_agg(quote_nullable(argument), ', ' ORDER BY place) || ')'
                                         FROM unnest(arguments) WITH ORDINALITY AS given (argument, place));
    placed record;
    found_row record;
    found_rows bigint;
BEGIN
    BEGIN
        EXECUTE run INTO found_row;
    EXCEPTION WHEN invalid_sql_statement_name THEN
        -- Citus delegates nothing within a transaction.
        IF to_regclass('public.trades_' || shard) IS NULL THEN
            RAISE EXCEPTION 'shard % of the ledger is on another server', shard;
        END IF;
        FOR placed IN
            SELECT other.logicalrelid::text AS relation,
                   other.logicalrelid::text || '_' || other.shardid AS shard
              FROM pg_dist_shard AS anchor
              JOIN pg_dist_partition AS sharded
                ON sharded.logicalrelid = anchor.logicalrelid
              JOIN pg_dist_partition AS kind
                ON kind.colocationid = sharded.colocationid
                OR kind.repmodel = 't'
              JOIN pg_dist_shard AS other
                ON other.logicalrelid = kind.logicalrelid
               AND (other.shardminvalue = anchor.shardminvalue OR kind.repmodel = 't')
             WHERE anchor.shardid = shard
        LOOP
            statement := regexp_replace(statement, '\m(FROM|JOIN)\s+' || placed.relation || '\M(?=\s+AS\M)',
                                        '\1 ' || placed.shard, 'g');
            statement := regexp_replace(statement, '\m(FROM|JOIN)\s+' || placed.relation || '\M(?!\.|\s+AS\M)',
                                        '\1 ' || placed.shard || ' AS ' || placed.relation, 'g');
        END LOOP;
        EXECUTE 'PREPARE ' || name || ' AS ' || statement;
        EXECUTE run INTO found_row;
    END;
    GET DIAGNOSTICS found_rows = ROW_COUNT;
    IF found_rows > 0 THEN
        RETURN NEXT found_row;
    END IF;
END
$$
