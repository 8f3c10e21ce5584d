-- For feeds to include: the columns of trades of which feed_trade.sql shows a trade.
              created_at,
              token_name,
              token_amount,
              value,
              value_usd,
              exchanged_value,
              realized,
              realized_usd,
              realized_cost,
              quantity_after,
              peak_after
