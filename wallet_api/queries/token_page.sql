-- For token_feed.sql to end its newest trades with: as many as the page needs, in the order of the index alone, with all
-- trades of the last moment.
         ORDER BY created_at DESC
         FETCH FIRST (%(limit)s::bigint + 1) ROWS WITH TIES
