-- How many tokens a wallet has traded; no row for a wallet that never traded. Needs lifetimes_pkey.
SELECT tokens
  FROM lifetimes
 WHERE wallet_id = %(wallet_id)s
