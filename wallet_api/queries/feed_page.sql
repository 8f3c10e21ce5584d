-- For feeds to end with, after their CTEs traded, which has at least the newest `scan` trades from the cursor on and one
-- more, with the address and the mint of each; and matching (txn), whose sum is the number of all trades.
-- Filters choose among the `scan` trades that are read. Without filters `scan` is `limit`. A page that is not full ends with
-- the last trade that was read, so that the next one continues there. They return a head, and the list of the page's trades.
-- Needs native_prices_pkey, and what feed_joins.sql needs.
{latest_price},
       scanned AS (
       SELECT traded.*,
              row_number() OVER (ORDER BY
{ledger.trade_order: @ DESC},
                                          mint DESC, address DESC) AS place
         FROM traded
        ORDER BY place
        LIMIT %(scan)s::bigint + 1
       ),
       candidate AS MATERIALIZED (
       SELECT place,
              wallet_id,
              token_id,
              tx_signature,
              event_index,
              is_sell,
{trade_columns},
              block,
              block_index,
              mint
         FROM scanned
        CROSS JOIN latest
        WHERE place <= %(scan)s::bigint
          AND (%(wants_sells)s::boolean IS NULL OR is_sell = %(wants_sells)s::boolean)
          AND (%(min_value)s::numeric IS NULL OR round_half_up(value, 9) >= %(min_value)s::numeric)
          AND (%(min_value_usd)s::numeric IS NULL
               OR round_half_up(COALESCE(value_usd, value * latest.usd), 4) >= %(min_value_usd)s::numeric)
        ORDER BY place
        LIMIT %(limit)s::bigint + 1
       ),
       shown AS (
       SELECT row_number() OVER (ORDER BY candidate.place) AS place,
{feed_trade}
{feed_joins}
        ORDER BY candidate.place
        LIMIT %(limit)s::bigint
       ),
       -- Where the page ends: with its last trade if there are more, else with the last one that was read.
       ending AS (
       SELECT COALESCE((SELECT place
                          FROM candidate
                         ORDER BY place
                         LIMIT 1 OFFSET %(limit)s::bigint - 1), %(scan)s::bigint) AS place,
              (SELECT count(*)
                 FROM candidate) > %(limit)s::bigint
              OR (SELECT count(*)
                    FROM scanned) > %(scan)s::bigint AS has_more
       ),
       total AS (
       SELECT COALESCE(sum(txn), 0)::bigint AS total
         FROM matching
       ),
       head AS (
       SELECT 1 AS place,
              total.total,
              ending.has_more,
{ledger.trade_order: @ AS $},
              last.mint,
              last.address
         FROM total
        CROSS JOIN ending
         LEFT JOIN scanned AS last
           ON last.place = ending.place
       )
{lists: shown}
