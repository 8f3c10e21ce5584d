-- A page of the trades in one token of a chain, newest first, by the wallets of one type or of all, or by `wallet_ids`.
-- Its newest trades are read until the page is full. If the positions of a type have fewer trades than would be
-- read until then, all of its trades are read instead.
-- Needs positions_by_token, wallets_pkey, trades_by_token, trades_pkey, tokens_pkey, and what window_sums.sql
-- and feed_page.sql need.
  WITH trader AS MATERIALIZED (
       SELECT positions.wallet_id,
              positions.buy_txn + positions.sell_txn AS txn,
              positions.last_seen,
              wallets.type = COALESCE(%(type)s::text, wallets.type)
              AND (%(wallet_ids)s::bigint[] IS NULL OR wallets.wallet_id = ANY (%(wallet_ids)s::bigint[])) AS is_wanted
         FROM positions
         JOIN wallets
           ON wallets.wallet_id = positions.wallet_id
        WHERE positions.token_id = %(token_id)s::bigint
       ),
       -- To fill a page, about limit * all / wanted trades are read.
       choice AS MATERIALIZED (
       SELECT COALESCE(sum(txn) FILTER (WHERE is_wanted), 0) AS txn,
              max(last_seen) FILTER (WHERE is_wanted) AS newest_at,
              (sum(txn) FILTER (WHERE is_wanted)) ^ 2 < (%(scan)s::bigint + 1) * sum(txn) AS are_few
         FROM trader
       ),
       reached AS (
       (SELECT trades.*,
               (SELECT address
                  FROM wallets
                 WHERE wallets.wallet_id = trades.wallet_id) AS address
          FROM trades
         WHERE NOT (SELECT are_few
                      FROM choice)
           AND token_id = %(token_id)s::bigint
           AND created_at > %(since)s::timestamptz
           AND created_at <= %(created_at)s::timestamptz
           AND created_at <= (SELECT newest_at
                                FROM choice)
           AND (%(type)s::text IS NULL
                OR %(type)s::text = (SELECT type
                                       FROM wallets
                                      WHERE wallets.wallet_id = trades.wallet_id))
           AND (%(wallet_ids)s::bigint[] IS NULL OR wallet_id = ANY (%(wallet_ids)s::bigint[]))
           AND (
{ledger.trade_order: @},
                (SELECT address
                   FROM wallets
                  WHERE wallets.wallet_id = trades.wallet_id))
               < (
{ledger.trade_order: %($)s},
                  %(address)s::text)
         ORDER BY
{ledger.trade_order: @ DESC},
                  address DESC
         LIMIT %(scan)s::bigint + 1)
        UNION ALL
       SELECT trade.*,
              wallets.address
         FROM trader
         JOIN positions
           ON positions.wallet_id = trader.wallet_id
          AND positions.token_id = %(token_id)s::bigint
         JOIN wallets
           ON wallets.wallet_id = trader.wallet_id
        CROSS JOIN LATERAL (
              SELECT *
                FROM trades
               WHERE trades.wallet_id = positions.wallet_id
                 AND trades.token_id = positions.token_id
              -- OFFSET 0 is an optimization fence: only positions of the type are read.
              OFFSET 0) AS trade
        WHERE (SELECT are_few
                 FROM choice)
          AND trader.is_wanted
          AND trader.last_seen > %(since)s::timestamptz
          AND trade.created_at > %(since)s::timestamptz
          AND (
{ledger.trade_order: @},
               wallets.address)
              < (
{ledger.trade_order: %($)s},
                 %(address)s::text)
       ),
       traded AS (
       SELECT reached.*,
              (SELECT mint
                 FROM tokens
                WHERE tokens.token_id = %(token_id)s::bigint) AS mint
         FROM reached
       ),
       scope AS (
       SELECT %(token_id)s::bigint AS token_id
       ),
{window_sums},
       -- Without a window, the trades of the positions; with one, those of its buckets.
       matching AS (
       SELECT txn
         FROM choice
        WHERE %(sizes)s::integer[] IS NULL
        UNION ALL
       SELECT txn
         FROM part
       ),
{feed_page}
