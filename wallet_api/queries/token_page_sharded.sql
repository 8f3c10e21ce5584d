-- What token_page.sql ends with, for Citus, which drops the WITH TIES of a query with subqueries on the workers: the
-- whole order.
         ORDER BY created_at DESC, is_sell DESC, tx_signature DESC, event_index DESC, address DESC
         LIMIT (%(limit)s::bigint + 1)
