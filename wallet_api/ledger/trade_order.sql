-- The order of the trades of a wallet in one token, said once, with `@` for the expression and `$` for the name of a column:
-- {trade_order: @} in a walk, {trade_order: @ DESC} newest first. A trade without a place in its chain stands before those that
-- have one. Lists of several tokens and wallets add mint and address.
created_at AS created_at,
COALESCE(block, -1) AS block,
COALESCE(block_index, -1) AS block_index,
is_sell AS is_sell,
tx_signature AS tx_signature,
event_index AS event_index
