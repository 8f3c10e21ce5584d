-- Keep the newest trade with a value above 0 of each of these tokens, where trades are sharded: token_prices.sql for
-- Citus, which has no LIMIT for each token. The newest trades of a token are those at the end of its positions; if
-- none of them has a value, all of its trades are read. Return how many rows of token_prices have changed.
-- Needs positions_by_token, trades_by_token, wallets_pkey, token_prices_pkey.
  WITH changed AS MATERIALIZED (
       SELECT token_id
         FROM unnest(%(token_ids)s::bigint[]) AS changed (token_id)
       ),
       latest AS MATERIALIZED (
       SELECT positions.token_id,
              max(positions.last_seen) AS last_seen
         FROM changed
         JOIN positions
           ON positions.token_id = changed.token_id
        GROUP BY positions.token_id
       ),
       final AS MATERIALIZED (
       SELECT trades.*
         FROM latest
         JOIN trades
           ON trades.token_id = latest.token_id
          AND trades.created_at = latest.last_seen
        WHERE trades.value > 0
       ),
       worthless AS MATERIALIZED (
       SELECT latest.token_id
         FROM latest
        WHERE latest.token_id NOT IN (SELECT final.token_id
                                        FROM final)
       ),
       earlier AS MATERIALIZED (
       SELECT trades.*
         FROM worthless
         JOIN trades
           ON trades.token_id = worthless.token_id
        WHERE trades.value > 0
       ),
       newest AS MATERIALIZED (
       SELECT DISTINCT ON (trade.token_id)
              trade.token_id,
              trade.created_at,
              trade.value,
              trade.value_usd,
              small_quotient(COALESCE(trade.exchanged_value, trade.value), trade.token_amount) AS price
         FROM (SELECT *
                 FROM final
                UNION ALL
               SELECT *
                 FROM earlier) AS trade
         JOIN wallets
           ON wallets.wallet_id = trade.wallet_id
        ORDER BY trade.token_id, trade.created_at DESC, trade.is_sell DESC, trade.tx_signature DESC,
                 trade.event_index DESC, wallets.address DESC
       ),
{kept_prices}
SELECT (SELECT count(*)
          FROM emptied)
       + (SELECT count(*)
            FROM kept) AS changed
