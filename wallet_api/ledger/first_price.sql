-- For other statements to include, after their CTE span (ordinal, token_id, wallet_id, starts_at, ends_at, usd): times, both ends
-- within, in which a price of a token is searched for; ordinal is unique. It adds first_price (ordinal, price, price_at, source), the first
-- one, in native currency, unrounded, of a trade or of a used quote; of both at one time that of the trade. A span without one has no row.
-- It also adds quoted (ordinal, quoted_at, price, not_used), all quotes in the spans.
-- A trade makes a price by prices_before: it is not of span.wallet_id (NULL: of any wallet), has a value above 0, and at least
-- price_min_usd dollars, where one without dollars counts with span.usd, the price of the native coin; without that it is large enough.
-- All trades in the spans are read, since a LIMIT for each cannot be sharded: a long span of a token that is traded much should be
-- searched after a short one was in vain. Needs trades_by_token, wallets_pkey, token_quotes_pkey.
       pricing AS NOT MATERIALIZED (
       SELECT span.ordinal,
              trades.*
         FROM span
         JOIN trades
           ON trades.token_id = span.token_id
          AND trades.created_at >= span.starts_at
          AND trades.created_at <= span.ends_at
        WHERE trades.wallet_id IS DISTINCT FROM span.wallet_id
          AND trades.value > 0
          AND trades.exchanged_value IS DISTINCT FROM 0
          AND COALESCE(trades.value_usd, trades.value * span.usd, %(price_min_usd)s) >= %(price_min_usd)s
       ),
       first_trade_at AS MATERIALIZED (
       SELECT ordinal,
              min(created_at) AS price_at
         FROM pricing
        GROUP BY ordinal
       ),
       first_trade AS MATERIALIZED (
       SELECT DISTINCT ON (pricing.ordinal)
              pricing.ordinal,
              small_quotient(COALESCE(pricing.exchanged_value, pricing.value), pricing.token_amount) AS price,
              pricing.created_at AS price_at
         FROM first_trade_at
         JOIN pricing
           ON pricing.ordinal = first_trade_at.ordinal
          AND pricing.created_at = first_trade_at.price_at
         JOIN wallets
           ON wallets.wallet_id = pricing.wallet_id
        ORDER BY pricing.ordinal,
{trade_order: @},
                 wallets.address
       ),
       quoted AS (
       SELECT span.ordinal,
              quote.quoted_at,
              quote.price,
              quote.not_used
         FROM span
         JOIN token_quotes AS quote
           ON quote.token_id = span.token_id
          AND quote.span_seconds IN (60, 3600)
          AND quote.starts_at > span.starts_at - interval '1 hour'
          AND quote.starts_at <= span.ends_at
        WHERE quote.quoted_at >= span.starts_at
          AND quote.quoted_at <= span.ends_at
       ),
       first_quote AS MATERIALIZED (
       SELECT DISTINCT ON (ordinal)
              ordinal,
              price,
              quoted_at AS price_at
         FROM quoted
        WHERE not_used IS NULL
        ORDER BY ordinal, quoted_at
       ),
       first_price AS MATERIALIZED (
       SELECT DISTINCT ON (ordinal)
              ordinal,
              price,
              price_at,
              source
         FROM (SELECT ordinal,
                      price,
                      price_at,
                      'trade' AS source
                 FROM first_trade
                UNION ALL
               SELECT ordinal,
                      price,
                      price_at,
                      'market'
                 FROM first_quote) AS found
        ORDER BY ordinal, price_at, source DESC
       )
