-- The tokens whose quotes are due.

-- held --
-- The tokens of some chains that a tracked wallet still holds. All positions are read.
SELECT DISTINCT
       positions.token_id
  FROM positions
  JOIN tokens
    ON tokens.token_id = positions.token_id
 WHERE tokens.blockchain = ANY (%(blockchains)s::text[])
   AND still_held(positions.quantity, positions.peak);

-- bought --
-- The tokens of some chains that a tracked wallet bought since a time. Needs lifetimes_by_last_seen,
-- trades_by_time.
SELECT DISTINCT
       within.token_id
  FROM lifetimes
 CROSS JOIN LATERAL (
       SELECT trades.wallet_id,
              trades.token_id
         FROM trades
        WHERE trades.wallet_id = lifetimes.wallet_id
          AND trades.created_at > %(since)s
          AND NOT trades.is_sell
        GROUP BY trades.wallet_id, trades.token_id) AS within
 WHERE lifetimes.blockchain = ANY (%(blockchains)s::text[])
   AND lifetimes.last_seen > %(since)s;

-- due --
-- Of these tokens those that were not asked for in the present minute, if they were bought, and hour, if they
-- are only held; the one that is late the longest first. Needs tokens_pkey, market_prices_pkey.
SELECT tokens.token_id,
       tokens.blockchain,
       tokens.mint
  FROM (SELECT token_id,
               min(seconds) AS seconds
          FROM (SELECT unnest(%(bought)s::bigint[]) AS token_id, 60 AS seconds
                 UNION ALL
                SELECT unnest(%(held)s::bigint[]), 3600) AS named
         GROUP BY token_id) AS wanted
  JOIN tokens
    ON tokens.token_id = wanted.token_id
  LEFT JOIN market_prices
    ON market_prices.token_id = wanted.token_id
 WHERE market_prices.asked_at IS NULL
    OR market_prices.asked_at < date_bin(wanted.seconds * interval '1 second', %(now)s::timestamptz, 'epoch')
 ORDER BY market_prices.asked_at + wanted.seconds * interval '1 second' NULLS FIRST,
          wanted.seconds,
          tokens.token_id;
