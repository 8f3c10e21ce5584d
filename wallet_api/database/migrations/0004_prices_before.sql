-- The prices of tokens by their trades, for moments and tokens of which token_prices says nothing.

-- Of each token, the price and the time of the newest trade of all wallets up to `moment`, and not before `oldest`, that makes a
-- price: of a value above 0, and of at least min_usd dollars. A trade without a dollar value counts with `usd`, the price of the
-- native coin; without that it is large enough. A token without such a trade has no row.
-- Of each token little more than that trade is read. On Citus this is a query a token.
-- Needs trades_by_token, wallets_pkey.
CREATE FUNCTION prices_before(token_ids bigint[], moment timestamptz, oldest timestamptz, usd numeric, min_usd numeric)
RETURNS TABLE (token_id bigint, price numeric, price_at timestamptz)
LANGUAGE plpgsql STABLE ROWS 10
AS $$
#variable_conflict use_column
DECLARE
    wanted bigint;
BEGIN
    FOREACH wanted IN ARRAY token_ids LOOP
        RETURN QUERY
        SELECT wanted,
               public.small_quotient(COALESCE(trades.exchanged_value, trades.value), trades.token_amount),
               trades.created_at
          FROM public.trades
          JOIN public.wallets
            ON wallets.wallet_id = trades.wallet_id
         WHERE trades.token_id = wanted
           AND trades.created_at <= moment
           AND trades.created_at >= oldest
           AND trades.value > 0
           AND COALESCE(trades.value_usd, trades.value * usd, min_usd) >= min_usd
         ORDER BY trades.created_at DESC, trades.is_sell DESC, trades.tx_signature DESC, trades.event_index DESC,
                  wallets.address DESC
         LIMIT 1;
    END LOOP;
END
$$;
