-- A wallet's lifetime record and a page of its trades, newest first, all in one snapshot.
-- The newest trades are read in the order of the index alone, with ties, so that any plan reads few more than the page
-- has; the rest of the order is applied to these. With `of_mint`, all trades of its position are read, and the overview has
-- this position alone.
-- Needs positions_pkey, lifetimes_pkey, trades_by_time, trades_pkey, tokens_pkey, tokens_blockchain_mint_key,
-- token_faces_pkey, and what token_price.sql needs.
  WITH of_token AS MATERIALIZED (
       SELECT *
         FROM trades
        WHERE wallet_id = %(wallet_id)s
          AND token_id = (SELECT token_id
                            FROM tokens
                           WHERE blockchain = %(blockchain)s
                             AND mint = %(of_mint)s::text)
       ),
       newest AS (
       (SELECT token_id,
               tx_signature,
               token_name,
               is_sell,
               token_amount,
               value,
               value_usd,
               created_at,
               event_index
          FROM trades
         WHERE %(of_mint)s::text IS NULL
           AND wallet_id = %(wallet_id)s
           AND created_at >= %(since)s::timestamptz
           AND created_at <= %(created_at)s::timestamptz
           AND (created_at, is_sell, tx_signature, event_index,
                (SELECT mint
                   FROM tokens
                  WHERE tokens.token_id = trades.token_id))
               < (%(created_at)s::timestamptz, %(is_sell)s, %(tx_signature)s, %(event_index)s, %(mint)s)
         ORDER BY created_at DESC
         FETCH FIRST (%(limit)s::bigint + 1) ROWS WITH TIES)
        UNION ALL
       (SELECT token_id,
               tx_signature,
               token_name,
               is_sell,
               token_amount,
               value,
               value_usd,
               created_at,
               event_index
          FROM of_token
         WHERE created_at >= %(since)s::timestamptz
           AND (created_at, is_sell, tx_signature, event_index, %(of_mint)s::text COLLATE "C")
               < (%(created_at)s::timestamptz, %(is_sell)s, %(tx_signature)s, %(event_index)s, %(mint)s)
         ORDER BY created_at DESC
         FETCH FIRST (%(limit)s::bigint + 1) ROWS WITH TIES)
       ),
       position AS (
       SELECT token_id,
              mint,
              token_name
         FROM positions
        WHERE wallet_id = %(wallet_id)s
          AND token_id = ANY (ARRAY(SELECT token_id
                                      FROM newest))
       ),
       named AS (
       SELECT newest.*,
              -- Positions may be missing between an interrupted restore and the rebuild.
              COALESCE(position.mint,
                       (SELECT mint
                          FROM tokens
                         WHERE tokens.token_id = newest.token_id)) AS mint,
              COALESCE(newest.token_name, position.token_name, face.name, '') AS shown_name,
              COALESCE(to_json(face.symbol)::text, 'null') AS symbol
         FROM newest
         -- A full join never compares each trade with each token, whatever the plan. The condition below prevents
         -- the planner from turning it into a left join.
         FULL JOIN position
           ON position.token_id = newest.token_id
         LEFT JOIN token_faces AS face
           ON face.token_id = newest.token_id
        WHERE num_nulls(newest.token_id) = 0
       ),
       candidate AS (
       SELECT *,
              row_number() OVER (ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC,
                                          mint DESC) AS ordinal
         FROM named
       ),
       -- As text, like the overview below.
       page AS (
       SELECT '[' || COALESCE(
                  string_agg(
                      '{"tx_signature":' || to_json(tx_signature)
                      || ',"mint":' || to_json(mint)
                      || ',"symbol":' || symbol
                      || ',"token_name":' || to_json(shown_name)
                      || ',"transaction_type":"' || CASE WHEN is_sell THEN 'sell' ELSE 'buy' END
                      || '","value":' || round_half_up(value, 9)
                      || COALESCE(',"value_usd":' || round_half_up(value_usd, 4), '')
                      || ',"currency":"' || %(currency)s::text
                      || '","token_amount":' || round_half_up(token_amount, 18)
                      || ',"created_at":"' || iso_time(created_at)
                      || '","event_index":' || event_index
                      || '}', ',' ORDER BY ordinal), '') || ']' AS trades
         FROM candidate
        WHERE ordinal <= %(limit)s
       ),
       -- Only tokens that are held need a price.
       wanted AS (
       SELECT token_id
         FROM positions
        WHERE wallet_id = %(wallet_id)s
          AND quantity > 0
       ),
{latest_price},
{token_price},
       record AS (
       SELECT *
         FROM positions
        WHERE wallet_id = %(wallet_id)s
       ),
       valued AS (
       SELECT record.*,
              face.symbol AS face_symbol,
              face.name AS face_name,
              record.quantity * token_price.price - record.cost AS unrealized
         FROM record
         LEFT JOIN token_faces AS face
           ON face.token_id = record.token_id
         LEFT JOIN token_price
           ON token_price.token_id = record.token_id
       ),
       -- As text, since row_to_json takes longer and cannot leave out unknown figures.
       overview AS (
       SELECT '[' || COALESCE(
                  string_agg(
                      CASE WHEN %(overview)s AND mint = COALESCE(%(of_mint)s::text, mint)
                           THEN '{"mint":' || to_json(mint)
                           || ',"symbol":' || COALESCE(to_json(face_symbol)::text, 'null')
                           || ',"token_name":' || to_json(COALESCE(token_name, face_name, ''))
                           || ',"invested":' || round_half_up(invested, 9)
                           || ',"sold":' || round_half_up(sold, 9)
                           || ',"realized_pnl":' || round_half_up(realized, 9)
                           || ',"realized_pnl_percentage":' || percentage(realized, realized_cost)
                           || ',"sold_without_cost":' || round_half_up(sold - realized - realized_cost, 9)
                           || ',"tokens_sold_without_cost":'
                           || round_half_up(tokens_without_cost, 18)
                           || ',"currency":"' || %(currency)s::text
                           || '","buy_txn":' || buy_txn
                           || ',"sell_txn":' || sell_txn
                           || ',"first_seen":"' || iso_time(first_seen)
                           || '","last_seen":"' || iso_time(last_seen)
                           || '","still_holding":' || still_held(quantity, peak)
                           || CASE WHEN quantity = 0 THEN ',"unrealized_pnl":0'
                                   WHEN unrealized IS NOT NULL THEN ',"unrealized_pnl":' || round_half_up(unrealized, 9)
                                   ELSE ''
                              END
                           || '}'
                      END, ',' ORDER BY last_seen DESC, mint), '') || ']' AS tokens,
              sum(unrealized) AS unrealized,
              count(unrealized) AS priced
         FROM valued
       ),
       profile AS (
       SELECT address AS wallet_address,
              name,
              image_url,
              twitter,
              telegram,
              blockchain,
              type,
              %(currency)s::text AS currency
         FROM wallets
        WHERE wallet_id = %(wallet_id)s
       ),
       lifetime AS (
       SELECT *,
              above_500 + above_100_to_500 + above_zero_to_100 AS won,
              above_500 + above_100_to_500 + above_zero_to_100 + below_zero AS closed
         FROM lifetimes
        WHERE wallet_id = %(wallet_id)s
       ),
       stats AS (
       SELECT %(currency)s::text AS currency,
              round_half_up(invested, 9) AS buy,
              round_half_up(sold, 9) AS sell,
              round_half_up(realized, 9) AS realized_pnl,
              percentage(realized, realized_cost) AS realized_pnl_percentage,
              round_half_up(sold - realized - realized_cost, 9) AS sold_without_cost,
              buy_txn,
              sell_txn,
              buy_txn + sell_txn AS total_tx_count,
              percentage(won, closed) AS win_rate,
              won AS win_count,
              closed AS total_sold,
              lifetime.tokens AS active_tokens_count,
              round_half_up(COALESCE(largest_buy, 0), 9) AS largest_buy,
              round_half_up(COALESCE(best_trade, 0), 9) AS best_trade_pnl,
              round_half_up(COALESCE(worst_trade, 0), 9) AS worst_trade_pnl,
              still_holding AS still_holding_count,
              round_half_up(overview.unrealized, 9) AS unrealized_pnl,
              round_half_up(overview.unrealized * latest.usd, 4) AS unrealized_pnl_usd,
              overview.priced AS priced_tokens_count
         FROM lifetime
        CROSS JOIN overview
        CROSS JOIN latest
       ),
       distribution AS (
       SELECT above_500,
              above_100_to_500,
              above_zero_to_100,
              below_zero
         FROM lifetime
       )
SELECT row_to_json(profile)::text AS profile,
       -- NULL for a wallet that never traded, which has no row in lifetimes.
       json_strip_nulls(row_to_json(stats))::text AS lifetime_stats,
       row_to_json(distribution)::text AS win_rate_distribution,
       (SELECT tokens
          FROM overview) AS token_overview,
       (SELECT trades
          FROM page) AS trades,
       EXISTS (SELECT FROM candidate
                WHERE ordinal > %(limit)s) AS has_more,
       ARRAY(SELECT token_id
               FROM newest_trade
              WHERE NOT makes_price) AS unpriced_ids,
       last.created_at,
       last.is_sell,
       last.tx_signature,
       last.event_index,
       last.mint
  FROM profile
  LEFT JOIN stats
    ON true
  LEFT JOIN distribution
    ON true
  LEFT JOIN candidate AS last
    ON last.ordinal = %(limit)s
