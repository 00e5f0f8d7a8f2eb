-- Whether a revision is as this program writes it. The formulas are those of `model.document.revision_digest` and
-- `model.revision.lineage`.
CREATE OR REPLACE FUNCTION ggn_fault_of_revision(bigint) RETURNS text LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, {{schema}}, pg_temp AS $ggn$
DECLARE
  it revision;
  parent revision;
  merged revision;
  united bigint;
  envelope text;
  written text;
  listed text;
  declared text;
  is_sound boolean;
BEGIN
  SELECT * INTO it FROM revision WHERE id = $1;
  IF it.number <> 1 AND NOT EXISTS (
      SELECT FROM revision WHERE ruleset_id = it.ruleset_id AND number = it.number - 1) OR it.number < 1 THEN
    RETURN 'it does not follow the newest revision of its ruleset';
  END IF;
  SELECT parent_id INTO united FROM revision_merge WHERE revision_id = $1;
  SELECT * INTO parent FROM revision WHERE id = it.parent_id;
  SELECT * INTO merged FROM revision WHERE id = united;
  IF parent.ruleset_id <> it.ruleset_id OR parent.number >= it.number
      OR merged.ruleset_id <> it.ruleset_id OR merged.number >= it.number THEN
    RETURN 'a parent of it is not an earlier revision of its ruleset';
  END IF;
  IF it.created_at > clock_timestamp() + interval '{{clocks_differ}}' THEN
    RETURN 'it was made in the future';
  END IF;
{{content}}
  written := '[' || coalesce(to_json(parent.lineage)::text, 'null') || ','
    || coalesce(to_json(merged.lineage)::text, 'null') || ',' || to_json(it.digest)::text || ','
    || coalesce(to_json(it.author)::text, 'null') || ',' || coalesce(to_json(it.message)::text, 'null') || ',"'
    || to_char(it.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') || '+00:00"]';
  IF it.lineage IS DISTINCT FROM encode(sha256(convert_to(written, 'UTF8')), 'hex') THEN
    RETURN 'its content, author, message, time and parents do not give its lineage';
  END IF;
  RETURN NULL;
END
$ggn$
