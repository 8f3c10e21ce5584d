-- For other statements to include: which days of a window of a group are whole. It adds whole (end_day), the first day after them,
-- and edge_span (starts_at, ends_at), the parts of other days. The last part of a window, that of today where it ends now, is read as
-- a whole day if no wallet of the group has a later trade: the sums of that day are then of the same trades.
-- Needs lifetimes_by_last_seen.
       -- Counted from the index alone; for the first row that is found PostgreSQL may read the table.
       traded_later AS MATERIALIZED (
       SELECT count(*) AS wallets
         FROM lifetimes
        WHERE blockchain = %(blockchain)s
          AND type = ANY (%(types)s::text[])
          AND last_seen > %(until)s
       ),
       whole AS MATERIALIZED (
       SELECT %(end_day)s::date
              -- A window within one day has one part, which begins in the day.
              + CASE WHEN wallets = 0 AND cardinality(%(starts)s::timestamptz[]) > 1 THEN 1
                     ELSE 0
                END AS end_day
         FROM traded_later
       ),
       edge_span AS MATERIALIZED (
       SELECT part.*
         FROM whole
        CROSS JOIN unnest(%(starts)s::timestamptz[], %(ends)s::timestamptz[]) AS part (starts_at, ends_at)
        WHERE (part.ends_at AT TIME ZONE 'UTC')::date < %(first_day)s
           OR (part.ends_at AT TIME ZONE 'UTC')::date >= whole.end_day
       )
