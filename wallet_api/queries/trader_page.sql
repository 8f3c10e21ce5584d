-- For other statements to include, after token_price.sql and token_traders.sql. It adds page, the traders of a page and one
-- more in the requested order, each with its ordinal and the price of the token; and page_end: how many traders match,
-- how many are shown, whether there are more, and the key of the last one.
-- The page begins after a key, and values what is held at the price of the key, if it has one: so rows stay in their
-- order while the price changes. A place is a figure times `direction`, infinite where the figure is unknown; those of
-- equal token_amount are in the order of their peaks.
-- Needs nothing else.
       -- The keys of the order stand first: to compare two rows, a sort reads all columns before its keys.
       placed AS (
       SELECT COALESCE(
                  CASE %(sort)s::text
                       WHEN 'buy' THEN round_half_up(invested, 9)
                       WHEN 'first_buy' THEN extract(epoch FROM first_buy)
                       WHEN 'last_trade' THEN extract(epoch FROM last_seen)
                       WHEN 'realized_pnl' THEN round_half_up(realized, 9)
                       WHEN 'realized_pnl_percentage' THEN percentage(realized, realized_cost)
                       WHEN 'unrealized_pnl' THEN CASE WHEN quantity = 0 THEN 0
                                                       ELSE round_half_up(quantity * priced.price - cost, 9)
                                                  END
                       WHEN 'token_amount' THEN round_half_up(quantity, 18)
                  END * %(direction)s::numeric, 'Infinity') AS place,
              CASE WHEN %(sort)s::text = 'token_amount' THEN round_half_up(peak, 18) * %(direction)s::numeric
                   ELSE 0
              END AS tie,
              priced.price,
              trader.*
         FROM trader
        CROSS JOIN (SELECT CASE WHEN %(is_price_kept)s::boolean THEN %(kept_price)s::numeric
                                ELSE (SELECT price
                                        FROM token_price)
                           END AS price) AS priced
        WHERE matches
       -- OFFSET 0 is an optimization fence: a figure is computed once.
       OFFSET 0
       ),
       candidate AS (
       SELECT *
         FROM placed
        WHERE (place, tie, address) > (%(last_place)s::numeric, %(last_tie)s::numeric, %(last_address)s::text)
        ORDER BY place, tie, address
        LIMIT %(limit)s::bigint + 1
       ),
       page AS MATERIALIZED (
       SELECT candidate.*,
              row_number() OVER (ORDER BY place, tie, address) AS ordinal
         FROM candidate
       ),
       page_end AS (
       SELECT (SELECT count(*)
                 FROM trader
                WHERE matches) AS matching,
              (SELECT count(*)
                 FROM page
                WHERE ordinal <= %(limit)s::bigint) AS shown,
              EXISTS (SELECT FROM page
                       WHERE ordinal > %(limit)s::bigint) AS has_more,
              last.place AS last_place,
              last.tie AS last_tie,
              last.address AS last_address,
              last.price AS kept_price
         FROM (VALUES (TRUE)) AS one (row)
         LEFT JOIN page AS last
           ON last.ordinal = %(limit)s::bigint
       )
