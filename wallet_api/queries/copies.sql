-- What a copier of a wallet would have got in (%(since)s, %(until)s], and a page of its steps, the oldest first.
-- Needs wallets_pkey, tokens_pkey, and what copied.sql needs.
  WITH
{copied},
       named AS (
       SELECT stepped.*,
              tokens.mint
         FROM stepped
         JOIN tokens
           ON tokens.token_id = stepped.token_id
       ),
       page AS MATERIALIZED (
       SELECT later.*,
              row_number() OVER (ORDER BY
{ledger.trade_order: @},
                                          mint) AS place
         FROM (SELECT *
                 FROM named
                WHERE (
{ledger.trade_order: @},
                       mint)
                      > (
{ledger.trade_order: %($)s},
                         %(mint)s)
                ORDER BY
{ledger.trade_order: @},
                         mint
                LIMIT %(limit)s::bigint + 1) AS later
       ),
       steps AS (
       SELECT place,
              iso_time(created_at) AS created_at,
              mint,
              CASE WHEN is_sell THEN 'sell' ELSE 'buy' END AS transaction_type,
              tx_signature,
              event_index,
              follows AS followed,
              CASE WHEN follows THEN round_price(price) END AS price,
              CASE WHEN follows THEN iso_time(price_at) END AS price_at,
              CASE WHEN follows THEN source END AS source,
              round_half_up(moved, 9) AS value,
              round_half_up(tokens, 18) AS token_amount,
              round_half_up(fee, 9) AS fee,
              round_half_up(moved - cost_of_sold, 9) AS realized_pnl
         FROM page
        WHERE place <= %(limit)s::bigint
       ),
       head AS (
       SELECT 1 AS place,
{copy_figures},
              (SELECT count(*)
                 FROM own) AS total,
              EXISTS (SELECT FROM page
                       WHERE page.place > %(limit)s::bigint) AS has_more,
              last.*
         FROM wallets
         LEFT JOIN copies
           ON copies.wallet_id = wallets.wallet_id
         LEFT JOIN (SELECT
{ledger.trade_order: @ AS $},
                           mint
                      FROM page
                     WHERE place = %(limit)s::bigint) AS last
           ON TRUE
        WHERE wallets.wallet_id = ANY (%(wallet_ids)s::bigint[])
       )
{lists: steps}
