-- Shards the ledger over the workers of a Citus cluster. `wallet-api migrate` runs what is still to be done, each
-- statement by itself. Why so: docs/scaling.md.

-- What was created before the cluster.
SELECT create_distributed_function(oid::regprocedure)
  FROM pg_proc
 WHERE pronamespace = 'public'::regnamespace
   AND proname IN ('quotient_to', 'quotient', 'small_quotient', 'round_half_up', 'percentage', 'profit_bucket',
                   'loss_of', 'still_held', 'stored_signature', 'round_price', 'price_per_token', 'dollars', 'iso_time', 'refuse_chain',
                   'native_currency', 'bucket_end', 'terms_of', 'reach_of', 'fees_of');

-- A statement about one wallet runs on its worker, where this function reads the trades of all wallets, or
-- quotes. Citus refuses that for the sake of functions that write, or that run once in each shard.
ALTER FUNCTION prices_before(bigint[], timestamptz, timestamptz, numeric, numeric)
  SET citus.allow_nested_distributed_execution = on;
ALTER FUNCTION quotes_before(bigint[], timestamptz, timestamptz)
  SET citus.allow_nested_distributed_execution = on;

-- Small, and needed beside every wallet's rows: a copy on each worker.
SELECT create_reference_table('wallets');
SELECT create_reference_table('wallet_groups');
SELECT create_reference_table('tokens');
SELECT create_reference_table('native_prices');
SELECT create_reference_table('token_prices');
SELECT create_reference_table('token_faces');
SELECT create_reference_table('wallet_terms');
SELECT create_reference_table('final_blocks');
SELECT create_reference_table('token_quotes');
SELECT create_reference_table('market_prices');

-- All that there is of one wallet lies on one worker. The setting citus.shard_count says in how many parts.
SELECT create_distributed_table('trades', 'wallet_id');
SELECT create_distributed_table('removals', 'wallet_id', colocate_with => 'trades');
SELECT create_distributed_table('positions', 'wallet_id', colocate_with => 'trades');
SELECT create_distributed_table('lifetimes', 'wallet_id', colocate_with => 'trades');
SELECT create_distributed_table('position_days', 'wallet_id', colocate_with => 'trades');
SELECT create_distributed_table('wallet_days', 'wallet_id', colocate_with => 'trades');
SELECT create_distributed_table('wallet_hours', 'wallet_id', colocate_with => 'trades');
SELECT create_distributed_table('holdings_snapshots', 'wallet_id', colocate_with => 'trades');

-- Plain tables of the coordinator: volume_rollup, token_days, signal_hours, token_outcomes, token_ranks, token_terms, arrivals, ledger_events,
-- api_keys, key_use, sync_wallets, sync_left_out, notify_place, notify_trades, notify_clusters, notify_messages, notify_targets, respelled_positions, sync_report,
-- sync_chains, sync_blocks, discovery_results, cursor_secret, wallet_fill, schema_migrations.
