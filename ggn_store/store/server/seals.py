"""What a Postgres server with roles watches over beyond rights: SQL that `store.roles` puts into its script.

Rights say who may insert into which table. These triggers say what may be inserted: rows only of a piece, board,
revision or proposal that the same transaction has made, and only such that every digest is the one of its rows; and
that nobody removes some rows of a piece without the rest. The owner of the tables, who could take the triggers away, is
not held up by them. What can be said of one row alone, the triggers of the migrations say, to everybody.

Each statement notes in `ggn_unchecked` what it has touched, and a deferred trigger on that table checks it before the
commit. Who asks for the check earlier (SET CONSTRAINTS) and then adds a row has it noted again.
"""

from __future__ import annotations

from ggn_store.store.database.engine import UNCHECKED
from ggn_store.store.schema import tables as t
from ggn_store.store.server.faults.boards import BOARD_FAULT
from ggn_store.store.server.faults.function import Function
from ggn_store.store.server.faults.masks import MASK_FAULT
from ggn_store.store.server.faults.pieces import PIECE_FAULT
from ggn_store.store.server.faults.revisions import PROPOSAL_FAULT, REVISION_FAULT, RULESET_FAULT

# Of the 64 bits of a transaction's number a row keeps the lower half. A row that can be seen, made by a transaction
# that is still going on, is of this one, or of a savepoint in it.
_IS_OURS = Function(
    "ggn_is_ours",
    """
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
""",
    arguments="xid",
    returns="boolean",
    may_call=("ggn_author", "ggn_admin"),
)

_SEAL = """
DECLARE
  touched bigint[];
BEGIN
  IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
    RETURN NULL;
  END IF;
  touched := ARRAY(SELECT DISTINCT {key} FROM touched_rows);
  {only_of_ours}INSERT INTO ggn_unchecked (kind, id)
  SELECT noted.kind, each.id
  FROM unnest(touched) AS each (id) CROSS JOIN unnest(ARRAY{kinds}) WITH ORDINALITY AS noted (kind, place)
  WHERE NOT EXISTS (SELECT FROM ggn_unchecked AS known WHERE known.kind = noted.kind AND known.id = each.id)
  ORDER BY each.id, noted.place;
  RETURN NULL;
END
"""

_ONLY_OF_OURS = """IF {unless}EXISTS (
    SELECT FROM unnest(touched) AS each (id)
    WHERE NOT EXISTS (SELECT FROM {parent} AS made WHERE made.id = each.id AND ggn_is_ours(made.xmin))
  ) THEN
    RAISE EXCEPTION 'ggn_store: rows are only added to a {parent} that the same transaction makes'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  """


def _sealing(parent: str, key: str, kind: str | None = None, unless: str = "") -> str:
    only = _ONLY_OF_OURS.format(parent=parent, unless=unless)
    return _SEAL.format(key=key, kinds=[kind or parent], only_of_ours=only)


def _noting(*kinds: str, key: str = "id") -> str:
    return _SEAL.format(key=key, kinds=[*kinds], only_of_ours="")


_KINDS = ("board", "ruleset", "piece", "mask", "revision", "proposal")

# Runs as the owner: who may only insert could not take the note away.
_CHECK = Function(
    "ggn_check",
    f"""
DECLARE
  fault text;
BEGIN
  IF NOT EXISTS (SELECT FROM {UNCHECKED} WHERE kind = NEW.kind AND id = NEW.id) THEN
    RETURN NULL;
  END IF;
  CASE NEW.kind
    {"".join(f"WHEN '{kind}' THEN fault := ggn_fault_of_{kind}(NEW.id); " for kind in _KINDS)}
  END CASE;
  IF fault IS NOT NULL THEN
    RAISE EXCEPTION 'ggn_store: a % would not be sound: %', NEW.kind, fault
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  DELETE FROM {UNCHECKED} WHERE kind = NEW.kind AND id = NEW.id;
  RETURN NULL;
END
""",
    is_definer=True,
)

_MAY_REBUILD = "NOT has_table_privilege(current_user, TG_RELID, 'DELETE') AND "

_KEYS = {"board": "board_id", "piece": "piece_id", "mask": "start / 1024"}

FUNCTIONS: tuple[Function, ...] = (
    _IS_OURS,
    BOARD_FAULT,
    RULESET_FAULT,
    PIECE_FAULT,
    MASK_FAULT,
    REVISION_FAULT,
    PROPOSAL_FAULT,
    _CHECK,
    *(Function(f"ggn_note_{kind}", _noting(kind)) for kind in ("board", "ruleset", "revision", "proposal")),
    Function("ggn_note_piece", _noting("piece", "mask")),
    Function("ggn_note_mask", _noting("mask")),
    *(Function(f"ggn_note_rows_of_{kind}", _noting(kind, key=key)) for kind, key in _KEYS.items()),
    Function("ggn_seal_board", _sealing("board", _KEYS["board"])),
    Function("ggn_seal_revision", _sealing("revision", "revision_id")),
    Function("ggn_seal_proposal", _sealing("proposal", "proposal_id")),
    Function("ggn_seal_piece", _sealing("piece", _KEYS["piece"])),
    Function("ggn_seal_mask", _sealing("piece", _KEYS["mask"], "mask", unless=_MAY_REBUILD)),
)

# Table -> the function that is run once for each statement that adds rows to it.
SEALED = {
    "board": "ggn_note_board",
    "square": "ggn_seal_board",
    "ruleset": "ggn_note_ruleset",
    "revision": "ggn_note_revision",
    "revision_merge": "ggn_seal_revision",
    "revision_piece": "ggn_seal_revision",
    "proposal": "ggn_note_proposal",
    "proposal_piece": "ggn_seal_proposal",
    "piece": "ggn_note_piece",
    **{table.name: "ggn_seal_piece" for table in t.PIECE_TABLES},
    "mask": "ggn_seal_mask",
}
# The same for those from which an admin removes rows, all of a piece or none, and whose masks he has made again.
EMPTIED = {
    "square": "ggn_note_rows_of_board",
    **{table.name: "ggn_note_rows_of_piece" for table in t.PIECE_TABLES},
    "mask": "ggn_note_rows_of_mask",
}


def script(schema: str) -> str:
    """The text of `statements`."""
    return "\n\n".join(f"{each};" for each in statements(schema))


def statements(schema: str) -> list[str]:
    """What makes the guards, or brings them to this program's version; run as the tables' owner."""
    parts = [
        f"CREATE UNLOGGED TABLE IF NOT EXISTS {UNCHECKED} (kind text NOT NULL, id bigint NOT NULL)",
        f"CREATE INDEX IF NOT EXISTS ix_{UNCHECKED} ON {UNCHECKED} (kind, id)",
    ]
    for each in FUNCTIONS:
        parts.append(
            f"CREATE OR REPLACE FUNCTION {each.signature} RETURNS {each.returns} LANGUAGE plpgsql "
            f"SECURITY {'DEFINER' if each.is_definer else 'INVOKER'}\n"
            f"SET search_path = pg_catalog, {schema}, pg_temp "
            + "".join(f"SET {setting} " for setting in each.settings)
            + f"AS $ggn${each.body}$ggn$"
        )
    for table, function in SEALED.items():
        parts.append(
            f'CREATE OR REPLACE TRIGGER {table}_sealed AFTER INSERT ON "{table}"\n'
            f"REFERENCING NEW TABLE AS touched_rows FOR EACH STATEMENT EXECUTE FUNCTION {function}()"
        )
    for table, function in EMPTIED.items():
        parts.append(
            f'CREATE OR REPLACE TRIGGER {table}_emptied AFTER DELETE ON "{table}"\n'
            f"REFERENCING OLD TABLE AS touched_rows FOR EACH STATEMENT EXECUTE FUNCTION {function}()"
        )
    parts.append(
        "CREATE OR REPLACE TRIGGER piece_changed AFTER UPDATE ON piece REFERENCING NEW TABLE AS touched_rows\n"
        "FOR EACH STATEMENT EXECUTE FUNCTION ggn_note_mask()"
    )
    parts += (
        f"DROP TRIGGER IF EXISTS {UNCHECKED}_checked ON {UNCHECKED}",
        f"CREATE CONSTRAINT TRIGGER {UNCHECKED}_checked AFTER INSERT ON {UNCHECKED} DEFERRABLE INITIALLY DEFERRED\n"
        "FOR EACH ROW EXECUTE FUNCTION ggn_check()",
    )
    return parts
