-- What copiers of the wallets of a chain with these addresses would have got in (%(since)s, %(until)s].
-- Needs wallets_pkey, and what copied.sql needs.
  WITH
{copied}
SELECT wallets.address,
       round_half_up(quotient(100 * (copies.realized + copies.unrealized), NULLIF(copies.invested, 0)), 4) AS copied_return_percent,
       COALESCE(copies.followed, 0) AS followed,
       COALESCE(copies.not_followed, 0) AS not_followed,
       COALESCE(copies.stuck, 0) AS stuck
  FROM wallets
  LEFT JOIN copies
    ON copies.wallet_id = wallets.wallet_id
 WHERE wallets.wallet_id = ANY (%(wallet_ids)s::bigint[])
