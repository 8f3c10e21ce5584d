"""What people would ask of the raw trades alone; `sell - buy`, since realized profit takes a walk."""

HISTORY = """
SELECT token_id, sum(value) FILTER (WHERE NOT is_sell) AS bought, sum(value) FILTER (WHERE is_sell) AS sold,
       count(*) FILTER (WHERE NOT is_sell) AS buys, count(*) FILTER (WHERE is_sell) AS sells,
       sum(CASE WHEN is_sell THEN value ELSE -value END) AS profit, min(created_at), max(created_at),
       sum(CASE WHEN is_sell THEN -token_amount ELSE token_amount END) AS held
  FROM trades
 WHERE wallet_id = %(wallet_id)s
 GROUP BY token_id
"""

LEADERBOARD = """
SELECT wallet_id, sum(value) AS volume, sum(value_usd) AS volume_usd, count(*) AS trades,
       sum(CASE WHEN is_sell THEN value ELSE -value END) AS profit, count(DISTINCT token_id) AS tokens
  FROM trades
  JOIN wallets USING (wallet_id)
 WHERE blockchain = %(blockchain)s AND type = %(type)s
   AND created_at > %(now)s::timestamptz - interval '30 days' AND created_at <= %(now)s
 GROUP BY wallet_id
 ORDER BY volume DESC
"""

VOLUME = """
SELECT sum(value) AS volume, sum(value_usd) AS volume_usd
  FROM trades
  JOIN wallets USING (wallet_id)
 WHERE blockchain = %(blockchain)s AND type = %(type)s
   AND created_at > %(now)s::timestamptz - interval '1 day' AND created_at <= %(now)s
"""
