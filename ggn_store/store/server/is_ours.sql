-- Of the 64 bits of a transaction's number a row keeps the lower half. A row that can be seen, made by a transaction
-- that is still going on, is of this one, or of a savepoint in it.
CREATE OR REPLACE FUNCTION ggn_is_ours(xid) RETURNS boolean LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp AS $ggn$
DECLARE
  now_on bigint := pg_current_xact_id()::text::bigint;
  at bigint := (now_on >> 32 << 32) + $1::text::bigint;
BEGIN
  IF at = now_on THEN
    RETURN true;
  END IF;
  at := at + CASE WHEN at - now_on > 2147483648 THEN -4294967296 ELSE 0 END
    + CASE WHEN now_on - at > 2147483648 THEN 4294967296 ELSE 0 END;
  RETURN at > 0 AND coalesce(pg_xact_status(at::text::xid8) = 'in progress', false);
END
$ggn$
