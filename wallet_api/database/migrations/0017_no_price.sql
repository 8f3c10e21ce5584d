-- A trade whose exchanged_value is 0 makes no price of its token: its value is a cost or proceeds alone.
CREATE OR REPLACE FUNCTION prices_before(token_ids bigint[], moment timestamptz, oldest timestamptz, usd numeric, min_usd numeric)
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
           AND trades.exchanged_value IS DISTINCT FROM 0
           AND COALESCE(trades.value_usd, trades.value * usd, min_usd) >= min_usd
         ORDER BY trades.created_at DESC, COALESCE(trades.block, -1) DESC, COALESCE(trades.block_index, -1) DESC,
                  trades.is_sell DESC, trades.tx_signature DESC, trades.event_index DESC, wallets.address DESC
         LIMIT 1;
    END LOOP;
END
$$;
