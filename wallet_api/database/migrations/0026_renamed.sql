-- Nearly all tokens have one name, the same in all of their positions: an answer that shows it reads it here, and no position.

-- Whether positions of the token may have several names. If not, token_name is the only one, NULL without any.
ALTER TABLE token_ranks ADD COLUMN is_renamed boolean NOT NULL DEFAULT TRUE;

-- Of tokens alone: after all wallets.
UPDATE wallet_fill
   SET done_until = COALESCE(done_until, 9223372036854775807)
 WHERE EXISTS (SELECT FROM wallets);
