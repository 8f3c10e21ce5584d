-- A page of the trades of a group of wallets in all tokens, newest first.
-- The newest N trades of a group are of the N wallets that traded last, so only their trades are read, and none that is
-- older than N trades found before. Ties are included until the whole order decides.
-- On later pages, the newest trade of a wallet is its newest one before the cursor.
-- With `wallet_ids`, the trades of these wallets alone.
-- Needs lifetimes_by_last_seen, lifetimes_pkey, trades_by_time, tokens_pkey, wallets_pkey, and what window_sums.sql and feed_page.sql
-- need.
  WITH recent AS (
       (SELECT wallet_id,
               last_seen AS newest_at
          FROM lifetimes
         WHERE %(wallet_ids)s::bigint[] IS NULL
           AND blockchain = %(blockchain)s
           AND type = %(type)s
           AND last_seen > %(since)s::timestamptz
           AND last_seen < %(created_at)s::timestamptz
         ORDER BY last_seen DESC
         FETCH FIRST (%(scan)s::bigint + 1) ROWS WITH TIES)
        UNION ALL
       -- The index has the wallets of one type by their newest trade: those of several types are sorted.
       (SELECT wallet_id,
               last_seen
          FROM lifetimes
         WHERE %(wallet_ids)s::bigint[] IS NULL
           AND %(type)s::text IS NULL
           AND blockchain = %(blockchain)s
           AND type = ANY (%(types)s::text[])
           AND last_seen > %(since)s::timestamptz
           AND last_seen < %(created_at)s::timestamptz
         ORDER BY last_seen DESC
         FETCH FIRST (%(scan)s::bigint + 1) ROWS WITH TIES)
        UNION ALL
       SELECT wallet_id,
              last_seen
         FROM lifetimes
        WHERE wallet_id = ANY (%(wallet_ids)s::bigint[])
          AND blockchain = %(blockchain)s
          AND type = ANY (%(types)s::text[])
          AND last_seen > %(since)s::timestamptz
          AND last_seen < %(created_at)s::timestamptz
        UNION ALL
       SELECT lifetimes.wallet_id,
              newest.created_at
         FROM lifetimes
        CROSS JOIN LATERAL (
              SELECT created_at
                FROM trades
               WHERE trades.wallet_id = lifetimes.wallet_id
{page_conditions}
               ORDER BY created_at DESC
               LIMIT 1) AS newest
        WHERE lifetimes.blockchain = %(blockchain)s
          AND lifetimes.type = ANY (%(types)s::text[])
          AND lifetimes.last_seen >= %(created_at)s::timestamptz
          AND (%(wallet_ids)s::bigint[] IS NULL OR lifetimes.wallet_id = ANY (%(wallet_ids)s::bigint[]))
       ),
       chosen AS (
       SELECT wallet_id,
              newest_at
         FROM recent
        ORDER BY newest_at DESC
        FETCH FIRST (%(scan)s::bigint + 1) ROWS WITH TIES
       ),
       -- If few wallets fill a page, more than the newest trade of each is needed to bound its oldest trade.
       share AS (
       SELECT 2 * %(scan)s::bigint / count(*) + 1 AS trades_each
         FROM chosen
       HAVING count(*) BETWEEN 1 AND %(scan)s::bigint
       ),
       sample AS (
       SELECT trade.created_at
         FROM chosen
         JOIN lifetimes
           ON lifetimes.wallet_id = chosen.wallet_id
        CROSS JOIN LATERAL (
              SELECT created_at
                FROM trades
               WHERE trades.wallet_id = lifetimes.wallet_id
{page_conditions}
               ORDER BY created_at DESC
               LIMIT (SELECT trades_each
                        FROM share)) AS trade
        WHERE EXISTS (SELECT 1 FROM share)
        UNION ALL
       SELECT newest_at
         FROM chosen
        WHERE NOT EXISTS (SELECT 1 FROM share)
       ),
       -- No trade of the page is older than the oldest of any N + 1 trades.
       horizon AS (
       SELECT COALESCE((SELECT created_at
                          FROM sample
                         ORDER BY created_at DESC
                         LIMIT 1 OFFSET %(scan)s::bigint), '-infinity') AS oldest_at
       ),
       -- A CTE of its own, since Citus drops the WITH TIES of a join on the workers.
       near AS MATERIALIZED (
       SELECT trade.*,
              wallets.address
         FROM chosen
         JOIN lifetimes
           ON lifetimes.wallet_id = chosen.wallet_id
         JOIN wallets
           ON wallets.wallet_id = chosen.wallet_id
        CROSS JOIN LATERAL (
              SELECT *
                FROM trades
               WHERE trades.wallet_id = lifetimes.wallet_id
                 AND created_at >= (SELECT oldest_at
                                      FROM horizon)
{page_conditions}
               ORDER BY created_at DESC
               FETCH FIRST (%(scan)s::bigint + 1) ROWS WITH TIES) AS trade
       ),
       reached AS (
       SELECT *
         FROM near
        ORDER BY created_at DESC
        FETCH FIRST (%(scan)s::bigint + 1) ROWS WITH TIES
       ),
       traded AS (
       SELECT reached.*,
              tokens.mint
         FROM reached
         JOIN tokens
           ON tokens.token_id = reached.token_id
       ),
       scope AS (
       SELECT 0 AS token_id
       ),
{window_sums},
       -- Without a window, the trades of lifetimes; with one, those of its buckets.
       matching AS (
       SELECT buy_txn + sell_txn AS txn
         FROM lifetimes
        WHERE %(sizes)s::integer[] IS NULL
          AND blockchain = %(blockchain)s
          AND type = ANY (%(types)s::text[])
        UNION ALL
       SELECT txn
         FROM part
       ),
{feed_page}
