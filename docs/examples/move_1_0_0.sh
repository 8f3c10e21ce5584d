#!/bin/sh
# Move wallets, prices, trades and keys of version 1.0.0, in the database $OLD, into the empty one of the settings, by files in this
# folder that only their owner can read. $NEW is its address where DATABASE_URL is not set: for the embedded server, what
# `wallet-api config database` prints. Stop the service and its syncs first. Then, in a checkout:
#
#     OLD=postgresql://… sh docs/examples/move_1_0_0.sh
#
# Values, profits and keys with their credits stay; the use of keys, and how far syncs had come, stay in the old database. A new
# entry after an exit now begins a new bag, which changes still_holding, total_sold, the win counts and rates, and the distribution
# of some wallets.
set -eu
umask 077
NEW=${NEW:-$DATABASE_URL}
psql "$OLD" <<'END'
\copy (SELECT blockchain, type, address AS wallet_address, name, image_url, twitter, telegram, copytrade_link FROM wallets) TO 'wallets.csv' CSV HEADER
\copy (SELECT currency, usd, to_char(priced_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS priced_at FROM native_prices) TO 'prices.csv' CSV HEADER
\copy (SELECT blockchain, address AS wallet_address, tx_signature, event_index, mint, token_name, CASE WHEN is_sell THEN 'sell' ELSE 'buy' END AS transaction_type, token_amount, value, CASE WHEN NOT usd_derived THEN value_usd END AS value_usd, exchanged_value, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_at FROM trades JOIN wallets USING (wallet_id) JOIN tokens USING (token_id, blockchain)) TO 'trades.csv' CSV HEADER
\copy api_keys (name, key_hash, credits, rate, expires_at, revoked_at, created_at, previous_hash, previous_until) TO 'keys.csv' CSV
END
wallet-api migrate
for rows in wallets prices trades; do wallet-api import $rows $rows.csv; done
psql "$NEW" -c "\copy api_keys (name, key_hash, credits, rate, expires_at, revoked_at, created_at, previous_hash, previous_until) FROM 'keys.csv' CSV"
