-- The functions of the store's schema, with the types of their arguments.

SELECT p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')'
FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = :schema AND p.proname ^@ 'ggn_'
ORDER BY 1
