"""What else people would ask of the raw trades: sums, or the walk of every trade at query time."""

# `sell - buy`, since realized profit takes a walk: other figures than ours, and the least that can be asked.
HISTORY_SUMS = """
SELECT token_id, sum(value) FILTER (WHERE NOT is_sell) AS bought, sum(value) FILTER (WHERE is_sell) AS sold,
       count(*) FILTER (WHERE NOT is_sell) AS buys, count(*) FILTER (WHERE is_sell) AS sells,
       sum(CASE WHEN is_sell THEN value ELSE -value END) AS profit, min(created_at), max(created_at),
       sum(CASE WHEN is_sell THEN -token_amount ELSE token_amount END) AS held
  FROM trades
 WHERE wallet_id = {wallet_id}
 GROUP BY token_id
"""

LEADERBOARD_SUMS = """
SELECT wallet_id, sum(value) AS volume, sum(value_usd) AS volume_usd, count(*) AS trades,
       sum(CASE WHEN is_sell THEN value ELSE -value END) AS profit, count(DISTINCT token_id) AS tokens
  FROM trades
  JOIN wallets USING (wallet_id)
 WHERE blockchain = 'solana' AND type = 'kol'
   AND created_at > TIMESTAMPTZ '{now}' - INTERVAL '30 days' AND created_at <= TIMESTAMPTZ '{now}'
 GROUP BY wallet_id
 ORDER BY volume DESC
"""

VOLUME_SUMS = """
SELECT sum(value) AS volume, sum(value_usd) AS volume_usd
  FROM trades
  JOIN wallets USING (wallet_id)
 WHERE blockchain = 'solana' AND type = 'kol'
   AND created_at > TIMESTAMPTZ '{now}' - INTERVAL '1 day' AND created_at <= TIMESTAMPTZ '{now}'
"""

LIST = """
SELECT address, name, image_url, twitter, telegram, copytrade_link
  FROM wallets
 WHERE blockchain = 'solana' AND type = 'kol'
 ORDER BY address
 LIMIT 50
"""

_WALK = """
walk(ROW(0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL)::walk_state, is_sell, token_amount, value, value_usd,
     extract(epoch FROM created_at), token_name)
OVER (PARTITION BY wallet_id, token_id ORDER BY created_at, is_sell, tx_signature, event_index)
"""

# The figures that we answer, of the raw trades alone.
HISTORY_WALKED = f"""
SELECT token_id, sum(value) FILTER (WHERE NOT is_sell) AS bought, sum(value) FILTER (WHERE is_sell) AS sold,
       count(*) FILTER (WHERE NOT is_sell) AS buys, count(*) FILTER (WHERE is_sell) AS sells,
       sum((state).realized) AS realized, sum((state).realized_cost) AS realized_cost,
       min(created_at), max(created_at), max((state).peak) AS peak,
       (array_agg((state).quantity ORDER BY created_at DESC))[1] AS held
  FROM (SELECT trades.*, {_WALK} AS state FROM trades WHERE wallet_id = {{wallet_id}}) AS stepped
 GROUP BY token_id
"""

LEADERBOARD_WALKED = f"""
SELECT wallet_id, sum(value) AS volume, sum(value_usd) AS volume_usd, count(*) AS trades,
       sum((state).realized) AS realized, sum((state).realized_usd) AS realized_usd
  FROM (SELECT trades.*, {_WALK} AS state
          FROM trades
          JOIN wallets USING (wallet_id)
         WHERE blockchain = 'solana' AND type = 'kol') AS stepped
 WHERE created_at > TIMESTAMPTZ '{{now}}' - INTERVAL '30 days' AND created_at <= TIMESTAMPTZ '{{now}}'
 GROUP BY wallet_id
 ORDER BY volume DESC
"""
