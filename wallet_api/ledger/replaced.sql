-- The trades that replayed positions had before, negated, to be subtracted from the rollups.
INSERT INTO walked
SELECT -1 AS sign,
       TRUE AS replay,
       FALSE AS is_last,
       trades.wallet_id,
       trades.token_id,
       trades.created_at,
       trades.event_index,
       trades.is_sell,
       trades.usd_derived,
       trades.tx_signature,
       trades.token_name,
       -trades.token_amount,
       -trades.value,
       -trades.value_usd,
       -trades.realized,
       -trades.realized_cost,
       -trades.hold_seconds,
       -trades.realized_usd
  FROM known_trades AS trades
