-- Shards the ledger over the workers of a Citus cluster: on the coordinator, in the database of the service,
-- after `wallet-api migrate` and before the first import. Why so: docs/scaling.md.

-- Small, and needed beside every wallet's rows: a copy on each worker.
SELECT create_reference_table('wallets');
SELECT create_reference_table('wallet_groups');
SELECT create_reference_table('tokens');
SELECT create_reference_table('native_prices');
SELECT create_reference_table('pending_fills');
SELECT create_reference_table('token_prices');

-- All that there is of one wallet lies on one worker.
SELECT create_distributed_table('trades', 'wallet_id', shard_count => 32);
SELECT create_distributed_table('positions', 'wallet_id', colocate_with => 'trades');
SELECT create_distributed_table('lifetimes', 'wallet_id', colocate_with => 'trades');
SELECT create_distributed_table('position_rollup', 'wallet_id', colocate_with => 'trades');
SELECT create_distributed_table('wallet_days', 'wallet_id', colocate_with => 'trades');
SELECT create_distributed_table('holdings_snapshots', 'wallet_id', colocate_with => 'trades');

-- Plain tables of the coordinator: volume_rollup, api_keys, sync_wallets, sync_heartbeats, schema_migrations.
