"""The tables, as the migrations make them (a test compares the two).

A piece's rows are keyed by the piece and by where they stand in its document: the ordinal of the source, of the
destination within the source, of the variant within the destination, each from 0; a variant also has a number
within the piece, which its conditions and effects refer to. So the rows of a piece lie together in document order,
every join of the reading query follows a primary key, no keys have to be generated, and the rows are the same in
every store but for `piece_id`. Squares are numbers of the piece's board; NULL as a source or destination is the
hand.
"""

from __future__ import annotations

import functools
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    and_,
    text,
)
from sqlalchemy.schema import SchemaItem

NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = MetaData(naming_convention=NAMING_CONVENTION)

# SQLite numbers rows by itself only where the key is declared INTEGER.
Id = BigInteger().with_variant(Integer, "sqlite")
# Identifiers, labels and names are compared and ordered by their bytes on both databases.
Label = Text().with_variant(Text(collation="C"), "postgresql")


def _table(name: str, *parts: SchemaItem, with_rowid: bool = True) -> Table:
    return Table(name, metadata, *parts, sqlite_with_rowid=with_rowid)


# In SQLite a table that is its primary key's index.
_compact = functools.partial(_table, with_rowid=False)


def _signed(*parts: Column[Any]) -> tuple[Column[Any], ...]:
    """Who wrote a row, why and when; `parts` come after the first."""
    return (
        Column("author", Text, nullable=True),
        *parts,
        Column("message", Text, nullable=True),
        Column("created_at", DateTime(timezone=True), nullable=False),
    )


def _of_variants(name: str, *parts: SchemaItem, key: tuple[str, ...] = ()) -> Table:
    """A table of what possibilities ask for or do; beside the possibility, `key` tells its rows apart."""
    return _compact(
        name,
        Column("piece_id", Id, nullable=False),
        Column("variant", Integer, nullable=False),
        *parts,
        PrimaryKeyConstraint("piece_id", "variant", *key),
        ForeignKeyConstraint(["piece_id", "variant"], ["variant.piece_id", "variant.number"]),
    )


def _lists(holder: str) -> Table:
    """A table of the pieces that rows of `holder` list, in order."""
    return _compact(
        f"{holder}_piece",
        Column(f"{holder}_id", Id, ForeignKey(f"{holder}.id"), nullable=False),
        Column("ordinal", Integer, nullable=False),
        Column("piece_id", Id, ForeignKey("piece.id"), nullable=False),
        PrimaryKeyConstraint(f"{holder}_id", "ordinal"),
        UniqueConstraint("piece_id", f"{holder}_id"),
    )


board = _table(
    "board",
    Column("id", Id, primary_key=True, nullable=False),
    Column("digest", Label, nullable=False),
    Column("shape", Label, nullable=True),
    UniqueConstraint("digest"),
)

square = _compact(
    "square",
    Column("board_id", Id, ForeignKey("board.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("label", Label, nullable=False),
    # Derived from the labels of the board, from 1: see `store.rulesets.load.points`.
    *(Column(axis, Integer, nullable=True) for axis in ("file", "rank", "layer")),
    PrimaryKeyConstraint("board_id", "number"),
    UniqueConstraint("board_id", "label"),
)

ruleset = _table(
    "ruleset",
    Column("id", Id, primary_key=True, nullable=False),
    Column("name", Label, nullable=False),
    Column("deleted_at", DateTime(timezone=True), nullable=True),
    UniqueConstraint("name"),
)

revision = _table(
    "revision",
    Column("id", Id, primary_key=True, nullable=False),
    Column("ruleset_id", Id, ForeignKey("ruleset.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("digest", Label, nullable=False),
    Column("parent_id", Id, ForeignKey("revision.id"), nullable=True),
    Column("dialect", Label, nullable=False),
    Column("board_id", Id, ForeignKey("board.id"), nullable=False),
    Column("envelope", Text, nullable=False),
    *_signed(),
    Column("lineage", Label, nullable=False, server_default=text("''")),
    UniqueConstraint("ruleset_id", "number"),
    CheckConstraint("dialect IN ('perform', 'must-deny', 'diff', 'gdl')", name="dialect"),
)

# The second parent of a revision that two lines of a ruleset's history meet in.
revision_merge = _table(
    "revision_merge",
    Column("revision_id", Id, ForeignKey("revision.id"), nullable=False),
    Column("parent_id", Id, ForeignKey("revision.id"), nullable=False),
    PrimaryKeyConstraint("revision_id"),
)

# A row each time that a tag moves, numbered from 1; its newest row is where it points, NULL where it was removed.
tag = _table(
    "tag",
    Column("ruleset_id", Id, ForeignKey("ruleset.id"), nullable=False),
    Column("name", Label, nullable=False),
    Column("number", Integer, nullable=False),
    Column("revision_id", Id, ForeignKey("revision.id"), nullable=True),
    *_signed(),
    PrimaryKeyConstraint("ruleset_id", "name", "number"),
)

# A row each time that a ruleset's state changes, numbered from 1; without any it is active.
ruleset_state = _table(
    "ruleset_state",
    Column("ruleset_id", Id, ForeignKey("ruleset.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("state", Label, nullable=False),
    Column("successor", Label, nullable=True),
    *_signed(),
    PrimaryKeyConstraint("ruleset_id", "number"),
    CheckConstraint("state IN ('active', 'deprecated', 'retired')", name="state"),
)

# A row each time that a ruleset is renamed, numbered from 1; nobody else gets the old name.
ruleset_rename = _table(
    "ruleset_rename",
    Column("ruleset_id", Id, ForeignKey("ruleset.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("old_name", Label, nullable=False),
    Column("new_name", Label, nullable=False),
    *_signed(),
    PrimaryKeyConstraint("ruleset_id", "number"),
)

# A row each time that the policy of a namespace changes, numbered from 1; the newest counts, without rules where it was
# removed. The namespace '' is the whole store. `positions` are those that `rules` say must keep their moves, as NDJSON.
policy = _table(
    "policy",
    Column("namespace", Label, nullable=False),
    Column("number", Integer, nullable=False),
    Column("rules", Text, nullable=True),
    Column("positions", Text, nullable=True),
    *_signed(),
    PrimaryKeyConstraint("namespace", "number"),
)

# What is to be the next revision of a ruleset: a row for each round, numbered from 1, the newest of which counts.
# `pieces` says how many it lists, `accepted` which changes of moves it says are meant. `role` is Postgres's word for
# who made it, whatever the author says.
proposal = _table(
    "proposal",
    Column("id", Id, primary_key=True, nullable=False),
    Column("ruleset_id", Id, ForeignKey("ruleset.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("base_id", Id, ForeignKey("revision.id"), nullable=True),
    Column("digest", Label, nullable=False),
    Column("dialect", Label, nullable=False),
    Column("board_id", Id, ForeignKey("board.id"), nullable=False),
    Column("envelope", Text, nullable=False),
    Column("pieces", Integer, nullable=False),
    Column("accepted", Text, nullable=True),
    *_signed(Column("role", Label, nullable=True)),
    Column("round", Integer, nullable=False, server_default="1"),
    UniqueConstraint("ruleset_id", "number", "round"),
    CheckConstraint("dialect IN ('perform', 'must-deny', 'diff', 'gdl')", name="dialect"),
)

# What was said of a round of a proposal, numbered from 1: anything but an approval or a comment ends the proposal. An
# approval names the digest of what was approved; a comment may be on an entry.
verdict = _table(
    "verdict",
    Column("proposal_id", Id, ForeignKey("proposal.id"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("verdict", Label, nullable=False),
    Column("revision_id", Id, ForeignKey("revision.id"), nullable=True),
    *_signed(Column("role", Label, nullable=True)),
    Column("digest", Label, nullable=True),
    *(Column(name, Label, nullable=True) for name in ("piece", "source", "destination")),
    PrimaryKeyConstraint("proposal_id", "ordinal"),
    CheckConstraint("verdict IN ('approved', 'rejected', 'withdrawn', 'merged', 'commented')", name="verdict"),
    CheckConstraint("(revision_id IS NOT NULL) = (verdict = 'merged')", name="revision"),
)

# What was said in reviews in other stores, a row each, by the SHA-256 of what it says: nothing counts it. All that is
# of one proposal names the key of its first round, which itself names none; revisions are named by their lineages.
review_record = _table(
    "review_record",
    Column("ruleset_id", Id, ForeignKey("ruleset.id"), nullable=False),
    Column("key", Label, nullable=False),
    Column("proposal", Label, nullable=True),
    Column("number", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("verdict", Label, nullable=False),
    *(Column(name, Label, nullable=True) for name in ("digest", "base", "revision", "piece", "source", "destination")),
    *_signed(Column("role", Label, nullable=True)),
    PrimaryKeyConstraint("ruleset_id", "key"),
    CheckConstraint(
        "verdict IN ('proposed', 'approved', 'rejected', 'withdrawn', 'merged', 'commented')", name="verdict"
    ),
)

# Triggers write it, and nothing else does: what was changed, when, and by which user of the database. `transaction` is
# Postgres's number of the transaction, since ids need not become visible in their order.
audit = _table(
    "audit",
    Column("id", Id, primary_key=True, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("role", Label, nullable=True),
    Column("action", Label, nullable=False),
    Column("subject", Label, nullable=True),
    Column("detail", Text, nullable=False),
    Column("transaction", BigInteger, nullable=True),
)

piece = _table(
    "piece",
    Column("id", Id, primary_key=True, nullable=False),
    Column("board_id", Id, ForeignKey("board.id"), nullable=False),
    Column("dialect", Label, nullable=False),
    Column("digest", Label, nullable=False),
    Column("identifier", Label, nullable=False),
    Column("style", Label, nullable=False),
    Column("letter", Label, nullable=False),
    Column("side", Label, nullable=False),
    Column("state", Label, nullable=False),
    Column("terminal", Boolean, nullable=False),
    Column("derived", Boolean, nullable=False),
    Column("lanes", Integer, nullable=True),
    UniqueConstraint("digest"),
    CheckConstraint("dialect IN ('perform', 'must-deny', 'diff', 'gdl')", name="dialect"),
    CheckConstraint("side IN ('first', 'second')", name="side"),
    CheckConstraint("state IN ('', '+', '-')", name="state"),
)

revision_piece = _lists("revision")

# What a revision calls its pieces, derived from the text that it was made from (`store.rulesets.piece_names`).
piece_name = _compact(
    "piece_name",
    Column("revision_id", Id, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("name", Label, nullable=False),
    PrimaryKeyConstraint("revision_id", "ordinal"),
    ForeignKeyConstraint(["revision_id", "ordinal"], ["revision_piece.revision_id", "revision_piece.ordinal"]),
)

proposal_piece = _lists("proposal")

source = _compact(
    "source",
    Column("piece_id", Id, ForeignKey("piece.id"), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("square", Integer, nullable=True),
    PrimaryKeyConstraint("piece_id", "ordinal"),
    UniqueConstraint("piece_id", "square"),
)

destination = _compact(
    "destination",
    Column("piece_id", Id, nullable=False),
    Column("source", Integer, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("square", Integer, nullable=True),
    PrimaryKeyConstraint("piece_id", "source", "ordinal"),
    ForeignKeyConstraint(["piece_id", "source"], ["source.piece_id", "source.ordinal"]),
)

variant = _compact(
    "variant",
    Column("piece_id", Id, nullable=False),
    Column("source", Integer, nullable=False),
    Column("destination", Integer, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("toggle", Boolean, nullable=True),
    PrimaryKeyConstraint("piece_id", "source", "destination", "ordinal"),
    ForeignKeyConstraint(
        ["piece_id", "source", "destination"], ["destination.piece_id", "destination.source", "destination.ordinal"]
    ),
    UniqueConstraint("piece_id", "number"),
)

condition = _of_variants(
    "condition",
    Column("polarity", Label, nullable=False),
    Column("square", Integer, nullable=False),
    Column("state", Label, nullable=False),
    CheckConstraint("polarity IN ('must', 'deny')", name="polarity"),
    key=("polarity", "square", "state"),
)

effect = _of_variants(
    "effect", Column("square", Integer, nullable=False), Column("becomes", Label, nullable=True), key=("square",)
)

hand_effect = _of_variants(
    "hand_effect",
    Column("piece", Label, nullable=False),
    Column("delta", Integer, nullable=False),
    CheckConstraint("delta <> 0", name="delta"),
    key=("piece",),
)

# The action that a possibility of the dialect `gdl` comes from; without a row it comes from none.
variant_origin = _of_variants(
    "variant_origin",
    Column("action", Label, nullable=False),
    Column("step", Integer, nullable=False),
    Column("chainable", Boolean, nullable=False),
    CheckConstraint("step >= 1", name="step"),
)

# For each state variable that a possibility asks for, the values that it may have.
guard = _of_variants(
    "guard",
    Column("variable", Label, nullable=False),
    Column("value", Label, nullable=False),
    key=("variable", "value"),
)

state_effect = _of_variants(
    "state_effect",
    Column("variable", Label, nullable=False),
    Column("value", Label, nullable=False),
    key=("variable",),
)

# How much is in a piece, derived from its rows (`store.rulesets.summaries` says how), so that nobody counts them again.
COUNTS = ("sources", "destinations", "possibilities", "drops", "conditions", "effects", "hand_effects", "keeps_turn")
piece_summary = _compact(
    "piece_summary",
    Column("piece_id", Id, ForeignKey("piece.id"), nullable=False),
    *(Column(name, Integer, nullable=False) for name in COUNTS),
    PrimaryKeyConstraint("piece_id"),
)

# How a piece moves, derived from its rows, too (`ggn_store.movement.facts` says how, and of which version it is).
FACTS: dict[str, type[Integer] | type[Text] | type[Boolean]] = {
    **dict.fromkeys(("moves", "moves_forms", "moves_words", "rules", "rules_forms", "rules_words"), Text),
    **dict.fromkeys(("rides", "leaps", "hops"), Boolean),
    "squares": Integer,
    **{f"{kind}{number}": Integer for kind in ("total", "quiet", "capture") for number in ("", "_min", "_max")},
    "reach": Integer,
    "colours": Text,
    **dict.fromkeys(("displacing", "elsewhere", "by_another", "either", "promoting", "castling", "off_path"), Integer),
    # How the board lies, as what the piece was made from says; of a board with holes, which squares the piece names;
    # of hexagons, the file that ranks fall to.
    "layout": Text,
    "named": Text,
    "fold": Integer,
    "entries": Text,
}
# Its rows are long: SQLite would read all of one to compare its key.
piece_facts = _table(
    "piece_facts",
    Column("piece_id", Id, ForeignKey("piece.id"), nullable=False),
    Column("version", Integer, nullable=False),
    *(Column(name, Label if kind is Text else kind, nullable=True) for name, kind in FACTS.items()),
    PrimaryKeyConstraint("piece_id"),
)

# That a piece was found sound: by which version of the checker, when, and what its rows looked like then.
piece_check = _compact(
    "piece_check",
    Column("piece_id", Id, ForeignKey("piece.id"), nullable=False),
    Column("checker", Integer, nullable=False),
    Column("checked_at", DateTime(timezone=True), nullable=False),
    Column("fingerprint", Label, nullable=False),
    PrimaryKeyConstraint("piece_id"),
)

Index(None, ruleset_rename.c.old_name)
Index(None, revision.c.digest)
Index(None, piece.c.identifier)
Index(None, piece_facts.c.moves)
Index(None, piece_name.c.name)

# A piece's own tables, parents before children.
PIECE_TABLES = (source, destination, variant, condition, effect, hand_effect, variant_origin, guard, state_effect)

# What is derived from these, and what is remembered of them; a row each.
ABOUT_PIECES = (piece_summary, piece_facts, piece_check)

# How these hang together in a join.
PIECES_OF_REVISIONS = revision_piece.join(piece, piece.c.id == revision_piece.c.piece_id)
SOURCES_OF_REVISIONS = PIECES_OF_REVISIONS.join(source, source.c.piece_id == piece.c.id)
DESTINATION_OF_SOURCE = and_(destination.c.piece_id == source.c.piece_id, destination.c.source == source.c.ordinal)
VARIANT_OF_SOURCE = and_(variant.c.piece_id == source.c.piece_id, variant.c.source == source.c.ordinal)
VARIANT_OF_DESTINATION = and_(
    variant.c.piece_id == destination.c.piece_id,
    variant.c.source == destination.c.source,
    variant.c.destination == destination.c.ordinal,
)

# Derived from the rows of a piece (`store.rulesets.lanes` says how); the fast query reads nothing else. Its rows are
# long, and are found in less than half the time where SQLite does not keep them in the index.
lane = _table(
    "lane",
    Column("key", Id, nullable=False),
    Column("each", Integer, nullable=False),
    *(Column(name, Id, nullable=False) for name in ("path", "passed", "first", "target")),
    Column("statements", Text, nullable=False),
    Column("facts", Text, nullable=False),
    Column("numbers", Text, nullable=False),
    PrimaryKeyConstraint("key"),
)
