-- Runs as the owner: who may only insert could not take the note away.
CREATE OR REPLACE FUNCTION ggn_check() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, {{schema}}, pg_temp AS $ggn$
DECLARE
  fault text;
BEGIN
  IF NOT EXISTS (SELECT FROM ggn_unchecked WHERE kind = NEW.kind AND id = NEW.id) THEN
    RETURN NULL;
  END IF;
  CASE NEW.kind
    {{faults}}
  END CASE;
  IF fault IS NOT NULL THEN
    RAISE EXCEPTION 'ggn_store: a % would not be sound: %', NEW.kind, fault
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  DELETE FROM ggn_unchecked WHERE kind = NEW.kind AND id = NEW.id;
  RETURN NULL;
END
$ggn$
