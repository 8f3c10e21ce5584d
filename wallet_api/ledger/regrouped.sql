-- The recent trades of tracked wallets whose type the batch changes: the volume of one group loses
-- (sign -1, before the change) or another gains (sign 1, after it) what they traded. Needs trades_by_time.
INSERT INTO walked
SELECT %(sign)s AS sign,
       FALSE AS replay,
       FALSE AS is_last,
       trades.wallet_id, trades.token_id, trades.created_at, trades.event_index, trades.is_sell,
       trades.usd_derived, trades.tx_signature, trades.token_name, trades.token_amount,
       %(sign)s * trades.value,
       %(sign)s * trades.value_usd
  FROM trades
 WHERE trades.wallet_id = ANY (%(wallet_ids)s)
   AND trades.created_at > %(horizon)s
