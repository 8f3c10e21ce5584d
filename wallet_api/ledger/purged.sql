-- A purge, for those who follow the feed: one event instead of its trades, where none that it names remains.

-- remains_before --
-- Whether a trade of before a time remains. All trades may be read.
SELECT TRUE AS found
  FROM trades
 WHERE created_at < %(before)s
 LIMIT 1;

-- event_before --
INSERT INTO ledger_events (arrival, event, removed_before)
VALUES (%(first_chunk)s, 'purge', %(before)s);

-- tokens --
-- The tokens of the removed trades.
SELECT DISTINCT token_id
  FROM removed;

-- remains_of_tokens --
-- Whether a trade in these tokens remains. Needs trades_by_token.
SELECT TRUE AS found
  FROM trades
 WHERE token_id = ANY (%(token_ids)s::bigint[])
 LIMIT 1;

-- event_of_tokens --
-- Needs tokens_pkey.
INSERT INTO ledger_events (arrival, event, blockchain, mint)
SELECT %(first_chunk)s::bigint,
       'purge',
       blockchain,
       mint
  FROM tokens
 WHERE token_id = ANY (%(token_ids)s::bigint[])
