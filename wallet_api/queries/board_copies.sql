-- What copiers of the wallets of a chain with these ids would have got in (%(since)s, %(until)s].
-- Needs wallets_pkey, and what copied.sql needs.
  WITH
{copied},
       figures AS (
       SELECT wallets.address,
{copy_figures}
         FROM wallets
         LEFT JOIN copies
           ON copies.wallet_id = wallets.wallet_id
        WHERE wallets.wallet_id = ANY (%(wallet_ids)s::bigint[])
       )
SELECT address,
       return_percent AS copied_return_percent,
       followed,
       not_followed,
       stuck
  FROM figures
