"""States that travel: said elsewhere and earlier, and of a successor that is still to come."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _seal(_seals(), travel=True)


def downgrade() -> None:
    _seal(_seals(), travel=False)


def _seal(seals: Any, *, travel: bool) -> None:
    """Make the seal of states again; `travel`: for those that come from other stores, too."""
    is_postgres = op.get_bind().dialect.name == "postgresql"
    words = seals._Postgres if is_postgres else seals._Sqlite
    checks = {name: each for table, name, *each in seals._checks(words) if table == "ruleset_state"}
    if travel:
        succeeded = (
            "EXISTS (SELECT 1 FROM ruleset WHERE id = NEW.ruleset_id AND (NEW.successor IS NULL OR "
            f"NEW.state <> 'active' AND NEW.successor <> name AND {seals._is_named(words, 'NEW.successor')}))"
        )
        checks |= {
            "timed": [words.is_past("NEW.created_at"), seals._PAST],
            "succeeded": [succeeded, seals._SUCCESSOR],
        }
    if is_postgres:
        body = " ".join(seals._require(condition, message) for condition, message in checks.values())
        seals._function("ggn_require_ruleset_state_written", body)
        op.execute("REVOKE ALL ON FUNCTION ggn_require_ruleset_state_written() FROM PUBLIC")
        return
    for name in ("timed", "succeeded"):
        op.execute(f"DROP TRIGGER ruleset_state_{name}")
        seals._unless(f"ruleset_state_{name}", "ruleset_state", *checks[name])


def _seals() -> Any:
    """The words of the seals, as they are since there are rights."""
    loader = SourceFileLoader("ggn_store_rights", str(Path(__file__).with_name("0011_rights.py")))
    module: Any = ModuleType(loader.name)
    # It finds the migration before it beside itself.
    module.__file__ = loader.path
    loader.exec_module(module)
    return module.seals()
