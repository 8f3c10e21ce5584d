-- The role of this connection, and whether it may create tables in a schema.
SELECT current_user AS role,
       COALESCE(has_schema_privilege(to_regnamespace(%(schema)s::text), 'CREATE'), FALSE) AS may_create
