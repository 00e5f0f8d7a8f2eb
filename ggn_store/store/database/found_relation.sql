-- What a relation of the name of a view is.
SELECT c.relkind = 'v', coalesce(c.reloptions, '{}'), pg_get_userbyid(c.relowner),
  concat_ws(' ', version(), current_schemas(true)::text, pg_get_viewdef(c.oid)),
  ARRAY(SELECT attname || ' ' || atttypid::int FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 ORDER BY attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = :schema AND c.relname = :name
