-- For other statements to include. What a copier of each of %(wallet_ids)s would have got in (%(since)s, %(until)s]: it adds latest,
-- stepped, a row for each trade of theirs; of_token, the sums of a wallet in a token; token_price; and copies, the sums of a wallet.
-- Whatever the copier buys is a part of what the wallet holds, and of each sell it sells the same part. So the walk of the ledger over
-- the amounts of the wallet, with other values, gives what the copier sells: with its tokens and its costs as values, these. The wallet
-- by itself is a copier at its own prices: of the buys that were followed (its), and of all (all).
-- Needs trades_by_time, native_prices_pkey, and what first_price.sql and token_price.sql need.
{latest_price},
       own AS MATERIALIZED (
       SELECT trades.wallet_id,
              trades.token_id,
              trades.created_at,
              trades.block,
              trades.block_index,
              trades.is_sell,
              trades.tx_signature,
              trades.event_index,
              trades.token_amount,
              trades.value,
              row_number() OVER every AS ordinal,
              bool_or(trades.is_sell) OVER of_token AS has_sold,
              trades.created_at + %(delay)s::bigint * interval '1 second' AS follows_at,
              LEAST(%(now)s,
                    trades.created_at + %(delay)s::bigint * interval '1 second' + interval '1 day',
                    lead(trades.created_at) OVER of_token
                    + %(delay)s::bigint * interval '1 second' - interval '1 microsecond') AS alone_until,
              CASE WHEN trades.is_sell
                   THEN trades.quantity_after + trades.token_amount - COALESCE(trades.tokens_without_cost, 0)
                   ELSE trades.quantity_after - trades.token_amount
              END AS quantity_before,
              CASE WHEN trades.is_sell OR %(delay)s::bigint = 0 THEN small_quotient(trades.value, trades.token_amount)
              END AS own_price
         FROM trades
        WHERE trades.wallet_id = ANY (%(wallet_ids)s::bigint[])
          AND trades.created_at > %(since)s
          AND trades.created_at <= %(until)s
       WINDOW every AS (ORDER BY trades.wallet_id,
                                 trades.token_id,
{ledger.trade_order: @}),
              of_token AS (PARTITION BY trades.wallet_id, trades.token_id
                               ORDER BY
{ledger.trade_order: @}
                                ROWS UNBOUNDED PRECEDING)
       ),
       -- Of the time until the wallet trades the token again, so that no trade of others is read twice, first some seconds, which have few
       -- trades where a token is traded much.
       soon_price AS MATERIALIZED (
         WITH span AS MATERIALIZED (
              SELECT ordinal,
                     token_id,
                     wallet_id,
                     follows_at AS starts_at,
                     LEAST(follows_at + interval '10 seconds', alone_until) AS ends_at,
                     latest.usd
                FROM own
               CROSS JOIN latest
               WHERE %(delay)s::bigint > 0
                 AND follows_at <= alone_until
              ),
{ledger.first_price}
       SELECT *
         FROM first_price
       ),
       near_price AS MATERIALIZED (
         WITH span AS MATERIALIZED (
              SELECT ordinal,
                     token_id,
                     wallet_id,
                     follows_at + interval '10 seconds' AS starts_at,
                     LEAST(follows_at + interval '600 seconds', alone_until) AS ends_at,
                     latest.usd
                FROM own
               CROSS JOIN latest
               WHERE %(delay)s::bigint > 0
                 AND follows_at + interval '10 seconds' < alone_until
                 AND ordinal NOT IN (SELECT ordinal
                                       FROM soon_price)
              ),
{ledger.first_price}
       SELECT *
         FROM first_price
        UNION ALL
       SELECT *
         FROM soon_price
       ),
       far_price AS MATERIALIZED (
         WITH span AS MATERIALIZED (
              SELECT ordinal,
                     token_id,
                     wallet_id,
                     follows_at + interval '600 seconds' AS starts_at,
                     alone_until AS ends_at,
                     latest.usd
                FROM own
               CROSS JOIN latest
               WHERE %(delay)s::bigint > 0
                 AND has_sold
                 AND follows_at + interval '600 seconds' < alone_until
                 AND ordinal NOT IN (SELECT ordinal
                                       FROM near_price)
              ),
{ledger.first_price}
       SELECT *
         FROM first_price
        UNION ALL
       SELECT *
         FROM near_price
       ),
       -- Where no price is in that time, the next one is that of a later trade.
       placed AS (
       SELECT own.*,
              min(far_price.ordinal) OVER (PARTITION BY own.wallet_id, own.token_id
                                               ORDER BY own.ordinal DESC
                                                ROWS UNBOUNDED PRECEDING) AS price_ordinal
         FROM own
         LEFT JOIN far_price
           ON far_price.ordinal = own.ordinal
       ),
       followed AS (
       SELECT placed.*,
              placed.follows_at + interval '1 day' <= %(now)s AS is_over,
              CASE WHEN %(delay)s::bigint = 0 THEN placed.own_price ELSE far_price.price END AS price,
              CASE WHEN %(delay)s::bigint = 0 THEN placed.created_at ELSE far_price.price_at END AS price_at,
              CASE WHEN %(delay)s::bigint = 0 THEN 'trade' ELSE far_price.source END AS source
         FROM placed
         LEFT JOIN far_price
           ON far_price.ordinal = placed.price_ordinal
          AND far_price.price_at <= placed.follows_at + CASE WHEN placed.is_sell THEN interval '1 day'
                                                             ELSE interval '600 seconds'
                                                        END
       ),
       sized AS (
       SELECT followed.*,
              buy.is_followed,
              CASE WHEN buy.is_followed THEN COALESCE(%(size)s::numeric, followed.value) ELSE 0 END AS paid,
              CASE WHEN NOT buy.is_followed THEN 0
                   -- A wallet may have got tokens for nothing.
                   WHEN %(delay)s::bigint = 0 AND %(size)s::numeric IS NULL THEN followed.token_amount * terms.kept
                   ELSE small_quotient(COALESCE(%(size)s::numeric, followed.value) * terms.kept, followed.price)
              END AS bought_tokens,
              terms.kept
         FROM followed
        CROSS JOIN (SELECT 1 - %(fee_percent)s::numeric * 0.01 AS kept) AS terms
        CROSS JOIN LATERAL (
              SELECT NOT followed.is_sell
                     AND followed.price IS NOT NULL
                     AND (followed.price > 0 OR %(size)s::numeric IS NULL) AS is_followed) AS buy
       ),
       walked AS (
       SELECT sized.*,
              walk(ROW(quantity_before, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL)::walk_state, is_sell, token_amount,
                   CASE WHEN is_sell THEN 0 ELSE bought_tokens END, CASE WHEN is_sell THEN 0 ELSE paid END, 0, NULL)
                   OVER in_order AS copy,
              walk(ROW(quantity_before, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL)::walk_state, is_sell, token_amount,
                   CASE WHEN is_followed THEN token_amount ELSE 0 END, CASE WHEN is_followed THEN value ELSE 0 END, 0, NULL)
                   OVER in_order AS its,
              walk(ROW(quantity_before, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL)::walk_state, is_sell, token_amount,
                   CASE WHEN is_sell THEN 0 ELSE token_amount END, CASE WHEN is_sell THEN 0 ELSE value END, 0, NULL)
                   OVER in_order AS whole
         FROM sized
       WINDOW in_order AS (PARTITION BY wallet_id, token_id
                               ORDER BY ordinal
                                ROWS UNBOUNDED PRECEDING)
       ),
       stepped AS (
       SELECT walked.*,
              COALESCE(made.is_followed, FALSE) AS follows,
              COALESCE(made.is_stuck, FALSE) AS is_stuck,
              CASE WHEN NOT is_sell THEN bought_tokens
                   WHEN made.is_followed OR made.is_stuck THEN (copy).realized_cost
                   ELSE 0
              END AS tokens,
              CASE WHEN NOT is_sell THEN paid
                   WHEN made.is_followed THEN (copy).realized_cost * price * kept
                   ELSE 0
              END AS moved,
              CASE WHEN NOT is_sell THEN paid * (1 - kept)
                   WHEN made.is_followed THEN (copy).realized_cost * price * (1 - kept)
                   ELSE 0
              END AS fee,
              CASE WHEN is_sell AND (made.is_followed OR made.is_stuck) THEN - (copy).realized_usd END AS cost_of_sold
         FROM walked
        CROSS JOIN LATERAL (
              SELECT CASE WHEN is_sell THEN (copy).realized_cost > 0 OR (copy).realized_usd < 0 END AS is_held) AS bag
        CROSS JOIN LATERAL (
              SELECT CASE WHEN is_sell THEN is_held AND price IS NOT NULL ELSE is_followed END AS is_followed,
                     is_held AND price IS NULL AND is_over AS is_stuck) AS made
       ),
       of_token AS MATERIALIZED (
       SELECT wallet_id,
              token_id,
              sum(paid) AS invested,
              sum(moved - cost_of_sold) AS realized,
              sum(fee) AS fees,
              sum(CASE WHEN is_sell THEN -tokens ELSE tokens END) AS tokens_left,
              sum(paid) - COALESCE(sum(cost_of_sold), 0) AS cost_left,
              count(*) FILTER (WHERE follows) AS followed,
              count(*) FILTER (WHERE NOT is_sell AND NOT follows) AS not_followed,
              sum(value) FILTER (WHERE NOT is_sell AND NOT follows) AS not_followed_value,
              count(*) FILTER (WHERE is_stuck) AS stuck,
              sum(value) FILTER (WHERE is_followed) AS its_invested,
              sum((its).realized_cost * own_price + (its).realized_usd) AS its_realized,
              sum(token_amount) FILTER (WHERE is_followed) - COALESCE(sum((its).realized_cost), 0) AS its_tokens_left,
              sum(value) FILTER (WHERE is_followed) + COALESCE(sum((its).realized_usd), 0) AS its_cost_left,
              sum(value) FILTER (WHERE NOT is_sell) AS all_invested,
              sum((whole).realized_cost * own_price + (whole).realized_usd) AS all_realized,
              sum(token_amount) FILTER (WHERE NOT is_sell) - COALESCE(sum((whole).realized_cost), 0) AS all_tokens_left,
              sum(value) FILTER (WHERE NOT is_sell) + COALESCE(sum((whole).realized_usd), 0) AS all_cost_left
         FROM stepped
        GROUP BY wallet_id, token_id
       ),
       wanted AS MATERIALIZED (
       SELECT DISTINCT
              token_id
         FROM of_token
        -- The last digits of quotients do not count.
        WHERE round(tokens_left, 30) > 0
           OR round(cost_left, 30) > 0
           OR round(all_tokens_left, 30) > 0
           OR round(all_cost_left, 30) > 0
       ),
{token_price},
       copies AS (
       SELECT wallet_id,
              sum(invested) AS invested,
              COALESCE(sum(realized), 0) AS realized,
              sum(fees) AS fees,
              COALESCE(sum(tokens_left * price - cost_left), 0) AS unrealized,
              COALESCE(sum(cost_left) FILTER (WHERE price IS NULL), 0) AS unpriced_cost,
              sum(followed) AS followed,
              sum(not_followed) AS not_followed,
              COALESCE(sum(not_followed_value), 0) AS not_followed_value,
              sum(stuck) AS stuck,
              sum(its_invested) AS its_invested,
              COALESCE(sum(its_realized), 0) + COALESCE(sum(its_tokens_left * price - its_cost_left), 0) AS its_gain,
              sum(all_invested) AS all_invested,
              COALESCE(sum(all_realized), 0) + COALESCE(sum(all_tokens_left * price - all_cost_left), 0) AS all_gain
         FROM of_token
         LEFT JOIN token_price
        USING (token_id)
        GROUP BY wallet_id
       )
