-- The sums behind what is stuck and what was luck: the cost of what is held, fast sells, and the profits of tokens and days.
-- They are filled from the rows that there are, while these tables cannot be read: docs/production.md has the time.

-- What the sells of one token lost, as a number above 0; 0 if they did not. The last digits of quotients do not count.
CREATE FUNCTION loss_of(realized numeric, realized_cost numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN realized < realized_cost * -1e-30 THEN -realized ELSE 0 END;

-- fast_txn counts covered sells whose hold time is under a minute. All rows get 0 without being rewritten.
ALTER TABLE positions ADD COLUMN fast_txn bigint NOT NULL DEFAULT 0;

ALTER TABLE position_days ADD COLUMN fast_txn bigint NOT NULL DEFAULT 0;

ALTER TABLE wallet_days ADD COLUMN fast_txn bigint NOT NULL DEFAULT 0;

-- open_cost is the cost of what the positions hold. losses is the sum of loss_of over them, best_token the largest
-- profit of one of them, at least 0.
-- active_days counts days with a trade, of which last_day is the last. max_drawdown is the largest fall of the profit cumulated by
-- days from an earlier peak, 0 included. earlier_peak and earlier_drawdown are that peak and max_drawdown as of before last_day:
-- from there a trade of that day or a later one continues.
ALTER TABLE lifetimes
  ADD COLUMN fast_txn bigint NOT NULL DEFAULT 0,
  ADD COLUMN open_cost numeric NOT NULL DEFAULT 0,
  ADD COLUMN losses numeric NOT NULL DEFAULT 0,
  ADD COLUMN best_token numeric NOT NULL DEFAULT 0,
  ADD COLUMN active_days bigint NOT NULL DEFAULT 0,
  ADD COLUMN max_drawdown numeric NOT NULL DEFAULT 0,
  ADD COLUMN last_day date NOT NULL DEFAULT '-infinity',
  ADD COLUMN earlier_peak numeric NOT NULL DEFAULT 0,
  ADD COLUMN earlier_drawdown numeric NOT NULL DEFAULT 0;

UPDATE positions
   SET fast_txn = fast.txn
  FROM (SELECT wallet_id,
               token_id,
               count(*) AS txn
          FROM trades
         WHERE round(hold_seconds, 30) < 60
         GROUP BY wallet_id, token_id) AS fast
 WHERE positions.wallet_id = fast.wallet_id
   AND positions.token_id = fast.token_id;

UPDATE position_days
   SET fast_txn = fast.txn
  FROM (SELECT wallet_id,
               token_id,
               (created_at AT TIME ZONE 'UTC')::date AS day,
               count(*) AS txn
          FROM trades
         WHERE round(hold_seconds, 30) < 60
         GROUP BY wallet_id, token_id, (created_at AT TIME ZONE 'UTC')::date) AS fast
 WHERE position_days.wallet_id = fast.wallet_id
   AND position_days.token_id = fast.token_id
   AND position_days.day = fast.day;

UPDATE wallet_days
   SET fast_txn = fast.txn
  FROM (SELECT wallet_id,
               (created_at AT TIME ZONE 'UTC')::date AS day,
               count(*) AS txn
          FROM trades
         WHERE round(hold_seconds, 30) < 60
         GROUP BY wallet_id, (created_at AT TIME ZONE 'UTC')::date) AS fast
 WHERE wallet_days.wallet_id = fast.wallet_id
   AND wallet_days.day = fast.day;

UPDATE lifetimes
   SET fast_txn = position.fast_txn,
       open_cost = position.open_cost,
       losses = position.losses,
       best_token = greatest(position.best_token, 0)
  FROM (SELECT wallet_id,
               sum(fast_txn) AS fast_txn,
               sum(cost) AS open_cost,
               sum(loss_of(realized, realized_cost)) AS losses,
               max(realized) AS best_token
          FROM positions
         GROUP BY wallet_id) AS position
 WHERE lifetimes.wallet_id = position.wallet_id;

UPDATE lifetimes
   SET active_days = path.active_days,
       max_drawdown = path.max_drawdown,
       last_day = path.last_day,
       earlier_peak = path.earlier_peak,
       earlier_drawdown = path.earlier_drawdown
  FROM (SELECT wallet_id,
               count(*) AS active_days,
               max(day) AS last_day,
               max(peak - cumulated) AS max_drawdown,
               COALESCE(max(peak) FILTER (WHERE NOT is_last), 0) AS earlier_peak,
               COALESCE(max(peak - cumulated) FILTER (WHERE NOT is_last), 0) AS earlier_drawdown
          FROM (SELECT summed.*,
                       greatest(0, max(cumulated) OVER (PARTITION BY wallet_id ORDER BY day)) AS peak
                  FROM (SELECT wallet_id,
                               day,
                               sum(realized) OVER (PARTITION BY wallet_id ORDER BY day) AS cumulated,
                               lead(day) OVER (PARTITION BY wallet_id ORDER BY day) IS NULL AS is_last
                          FROM wallet_days
                         WHERE buy_txn + sell_txn > 0) AS summed) AS day
         GROUP BY wallet_id) AS path
 WHERE lifetimes.wallet_id = path.wallet_id;

ALTER TABLE positions ALTER COLUMN fast_txn DROP DEFAULT;

ALTER TABLE position_days ALTER COLUMN fast_txn DROP DEFAULT;

ALTER TABLE wallet_days ALTER COLUMN fast_txn DROP DEFAULT;

ALTER TABLE lifetimes
ALTER COLUMN fast_txn DROP DEFAULT,
ALTER COLUMN open_cost DROP DEFAULT,
ALTER COLUMN losses DROP DEFAULT,
ALTER COLUMN best_token DROP DEFAULT,
ALTER COLUMN active_days DROP DEFAULT,
ALTER COLUMN max_drawdown DROP DEFAULT,
ALTER COLUMN last_day DROP DEFAULT,
ALTER COLUMN earlier_peak DROP DEFAULT,
ALTER COLUMN earlier_drawdown DROP DEFAULT;
