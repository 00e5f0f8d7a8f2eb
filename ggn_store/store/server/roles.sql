-- What makes the roles; `roles.py` says which rights these have.

-- The roles of the ggn_store in the database {{shown_database}}, schema {{shown_schema}}, whose tables belong to {{shown_owner}}.
-- `ggn-store db roles init` runs the same text. Whoever runs it is a superuser, or has CREATEROLE (or finds the roles
-- made already), owns the database and is {{shown_owner}} or a member of it. In one transaction, and again at will.

SET LOCAL client_min_messages = warning;
SELECT pg_advisory_xact_lock({{lock}});
SET LOCAL search_path = {{schema}};

-- Groups: logins become members (GRANT ggn_author TO ann). They are of the whole server, as all its roles are.
DO $ggn$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY{{listed}} LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I {{attributes}}', role);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;  -- made meanwhile, for another database of the server
      END;
    END IF;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = role AND (rolcanlogin OR rolsuper OR rolcreatedb OR rolcreaterole
        OR rolreplication OR rolbypassrls)) THEN
      RAISE EXCEPTION 'ggn_store: the server has a role % already, which may do more than these roles may: '
        'ALTER ROLE % {{attributes}}', role, role;
    END IF;
  END LOOP;
END
$ggn$;

-- Who may connect makes nothing for that reason alone: no temporary tables, nothing in the schema.
REVOKE TEMPORARY ON DATABASE {{database}} FROM PUBLIC;
REVOKE CREATE ON DATABASE {{database}} FROM PUBLIC;
REVOKE ALL ON DATABASE {{database}} FROM {{roles}};
{{on_database}}
GRANT CONNECT, TEMPORARY ON DATABASE {{database}} TO {{owner}};

REVOKE CREATE ON SCHEMA {{schema}} FROM PUBLIC;
REVOKE ALL ON SCHEMA {{schema}} FROM {{roles}};
{{on_schema}}
GRANT USAGE, CREATE ON SCHEMA {{schema}} TO {{owner}};

-- From here on as the owner of the tables, whose the guards are.
SET LOCAL ROLE {{owner}};

{{seals}}

-- First nothing, then what the roles are for: whatever was granted by hand is gone.
{{nothing}}

{{on_tables}}

{{on_sequences}}

-- Who may call a function that writes the audit could hang it on a temporary table of his own.
{{on_functions}}
