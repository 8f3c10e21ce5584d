-- The months of a wallet, from its first trade to the present or to its newest trade, with their days. Nothing is
-- rounded before it is shown. Needs wallets_pkey, wallet_days_pkey, native_prices_pkey.
  WITH wallet AS MATERIALIZED (
       SELECT wallet_id,
{profile}
         FROM wallets
        WHERE wallet_id = %(wallet_id)s
       ),
{latest_price},
       traded AS MATERIALIZED (
       SELECT wallet_days.*,
              date_trunc('month', day::timestamp)::date AS starts_on
         FROM wallet
         JOIN wallet_days
           ON wallet_days.wallet_id = wallet.wallet_id
        WHERE wallet_days.wallet_id = %(wallet_id)s
       ),
{calendar_months}
