"""Connection: the edges and ways of an outcome, in its views, and the concept of a game that ends so."""

from __future__ import annotations

from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def _before(name: str) -> ModuleType:
    """The migration of that name: names of migrations begin with digits, which no import says."""
    loader = SourceFileLoader(f"ggn_store_{name}", str(Path(__file__).with_name(f"{name}.py")))
    module = ModuleType(loader.name)
    module.__file__ = loader.path  # where it finds those before it
    loader.exec_module(module)
    return module


def _queries(*, is_postgres: bool, is_extended: bool) -> dict[str, str]:
    """The views as they have been, or with what is new at their ends."""
    play, concepts = _before("0010_play"), _before("0017_concepts")
    words = play._Postgres if is_postgres else play._Sqlite
    outcomes: str = play._views(words)["v_outcomes"]
    known = dict(concepts._CONCEPTS)
    if is_extended:
        also = ", ".join(f"{words.listed(key)} AS {key}" for key in ("edges", "ways"))
        outcomes = outcomes.replace(f" {play._OF_REVISION} ", f", {also} {play._OF_REVISION} ", 1)
        known["ends_by_connection"] = concepts._any("outcomes", "connection/")
    gathered = concepts._NUMBERS | concepts._declared(is_postgres=is_postgres)
    rows = concepts._GATHERED.replace("{columns}", ", ".join(f"{sql} AS {name}" for name, sql in gathered.items()))
    columns = ", ".join(f"{sql} AS {name}" for name, sql in known.items())
    return {
        "v_outcomes": outcomes,
        "v_concepts": f"SELECT g.ruleset, g.revision, {columns} FROM ({rows}) g",
    }


def _replace(*, is_extended: bool) -> None:
    """Who may read the views on Postgres still may, but after a downgrade."""
    is_postgres = op.get_bind().dialect.name == "postgresql"
    create = "CREATE OR REPLACE VIEW" if is_postgres and is_extended else "CREATE VIEW"
    for name, query in _queries(is_postgres=is_postgres, is_extended=is_extended).items():
        for suffix, newest in _before("0010_play")._REVISIONS:
            if create == "CREATE VIEW":
                op.execute(f"DROP VIEW {name}{suffix}")
            op.execute(f"{create} {name}{suffix} AS {query.replace('{newest}', newest)}")


def upgrade() -> None:
    _replace(is_extended=True)


def downgrade() -> None:
    _replace(is_extended=False)
