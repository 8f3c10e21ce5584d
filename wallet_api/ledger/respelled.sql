-- Trades whose signature was stored in another form than it is compared in: one trade for each form of a hash.

-- positions --
-- The next positions with such trades.
SELECT wallet_id,
       token_id
  FROM respelled_positions
 ORDER BY wallet_id, token_id
 LIMIT %(limit)s;

-- affected --
INSERT INTO affected
SELECT wallet_id,
       token_id,
       TRUE AS is_late
  FROM unnest(%(wallet_ids)s::bigint[], %(token_ids)s::bigint[]) AS position (wallet_id, token_id);

-- respelled --
-- Those of the batch. Needs trades_pkey.
INSERT INTO removed
  WITH affected AS MATERIALIZED (
       SELECT wallet_id,
              token_id
         FROM affected
       )
SELECT trades.wallet_id,
       trades.token_id,
       trades.tx_signature,
       trades.is_sell,
       trades.event_index
  FROM affected
  JOIN trades
    ON trades.wallet_id = affected.wallet_id
   AND trades.token_id = affected.token_id
 WHERE trades.tx_signature <> stored_signature(trades.tx_signature);

-- merged --
-- Of the forms of a trade the one that arrived last, as of a correction. To those who follow the feed it is one, of the
-- trade that arrived first. Needs trades_pkey.
INSERT INTO fresh (wallet_id, token_id, created_at, event_index, is_sell, usd_derived, tx_signature, token_name, token_amount,
                   value, value_usd, exchanged_value, first_arrival, value_derived, block, block_index)
  WITH affected AS MATERIALIZED (
       SELECT wallet_id,
              token_id
         FROM affected
       ),
       ranked AS (
       SELECT trades.*,
              stored_signature(trades.tx_signature) AS stored,
              row_number() OVER (one_trade ORDER BY trades.arrival DESC, trades.tx_signature) AS nth,
              min(COALESCE(trades.first_arrival, trades.arrival)) OVER one_trade AS first_arrived
         FROM affected
         JOIN trades
           ON trades.wallet_id = affected.wallet_id
          AND trades.token_id = affected.token_id
       WINDOW one_trade AS (PARTITION BY trades.wallet_id, trades.token_id, stored_signature(trades.tx_signature),
                                         trades.is_sell, trades.event_index)
       )
SELECT wallet_id,
       token_id,
       created_at,
       event_index,
       is_sell,
       usd_derived,
       stored,
       token_name,
       token_amount,
       value,
       value_usd,
       exchanged_value,
       first_arrived,
       value_derived,
       block,
       block_index
  FROM ranked
 WHERE nth = 1
   AND tx_signature <> stored;

-- done --
DELETE FROM respelled_positions
 USING unnest(%(wallet_ids)s::bigint[], %(token_ids)s::bigint[]) AS position (wallet_id, token_id)
 WHERE respelled_positions.wallet_id = position.wallet_id
   AND respelled_positions.token_id = position.token_id;
