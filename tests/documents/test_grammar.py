"""One grammar: the readers, the schemas, what is written, and what the database derives know the same keys."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

import ggn_store
from ggn_store import Store
from ggn_store.documents import quick, reader
from ggn_store.documents.ggn import Decoded, problems, read
from ggn_store.documents.grammar import ACTION, ALL_KEYS, GRAMMARS, STATE_KEY, VARIABLE, Key, ValueShape, names
from ggn_store.documents.schema import json_schema
from ggn_store.model.documents.document import DIALECTS, Dialect

Json = dict[str, Any]
EVERY_DIALECT = pytest.mark.parametrize("dialect", DIALECTS)


def written(key: Key, dialect: Dialect) -> Any:
    """A value of a key's shape, with every key that it can have."""
    grammar = GRAMMARS[dialect]
    values: dict[ValueShape, Any] = {
        "conditions": {"c3": "empty"} if key.name == grammar.conditions[0] else {"d4": "enemy"},
        "board": {"a1": None, "b2": "C:P"},
        "hands": {"C:P": -1},
        "flag": key.default is False,
        "state": {"phase": "yes"},
        "guards": {"phase": ["no"]},
        "word": "no",
        "words": ["no", "yes"],
        "step": 2,
    }
    if key.shape in ("diff", "action"):
        return {each.name: written(each, dialect) for each in (grammar.diff if key.shape == "diff" else ACTION)}
    return values[key.shape]


def whole(dialect: Dialect) -> Json:
    """A document with every key of its dialect."""
    grammar = GRAMMARS[dialect]
    possibility = {key.name: written(key, dialect) for key in grammar.possibility}
    declared = (
        {STATE_KEY: {"phase": {key.name: written(key, dialect) for key in VARIABLE}}} if grammar.has_state else {}
    )
    return {**declared, "C:P": {"a1": {"b2": [possibility]}}}


@EVERY_DIALECT
def test_both_readers_read_every_key_and_it_is_written_again(dialect: Dialect) -> None:
    document = whole(dialect)
    decoded = Decoded.of(json.dumps(document))
    fast, _ = read(decoded)
    slow, found = read(Decoded(document))
    assert not found
    assert fast == slow
    assert fast is not None
    assert fast.dialect == dialect
    assert {**fast.data(), "$state": 0} == {**document, "$state": 0}


@EVERY_DIALECT
def test_both_readers_and_the_schema_have_no_key_of_another_dialect(dialect: Dialect) -> None:
    grammar = GRAMMARS[dialect]
    for name in sorted(ALL_KEYS | {"other"}):
        for keys, inside in ((grammar.possibility, ()), (grammar.diff, ("diff",))):
            if name in names(keys) or not keys:
                continue
            document = whole(dialect)
            at = document["C:P"]["a1"]["b2"][0]
            for key in inside:
                at = at[key]
            at[name] = {}
            assert quick.pieces({"C:P": document["C:P"]}, grammar, lambda _: True, lambda _: True) == ()
            assert problems(document, dialect)
    assert set(json_schema(dialect)["$defs"]["possibility"]["properties"]) == set(names(grammar.possibility))


def test_every_shape_of_the_grammar_is_read() -> None:
    used = {key.shape for grammar in GRAMMARS.values() for key in (*grammar.possibility, *grammar.diff)}
    assert used == set(reader._READERS)
    assert used | {key.shape for key in (*ACTION, *VARIABLE)} == set(get_args(ValueShape))


def test_what_postgres_derives_from_rows_has_the_keys_of_the_grammar() -> None:
    server = Path(ggn_store.__file__).parent / "store" / "server"
    texts = [path.read_text(encoding="utf-8") for path in server.rglob("*.*") if path.suffix in (".py", ".sql")]
    [derived] = [text for text in texts if '"require":' in text]
    possibility = {key for dialect in DIALECTS for key in names(GRAMMARS[dialect].possibility)}
    diff = {key for dialect in DIALECTS for key in names(GRAMMARS[dialect].diff)}
    assert set(re.findall(r'"(\w+)":', derived)) == possibility | diff | set(names(ACTION))


@EVERY_DIALECT
def test_the_store_keeps_every_key(store: Store, dialect: Dialect) -> None:
    store.load(whole(dialect), name="whole")
    assert store.ruleset("whole").document().pieces[0].data(dialect) == whole(dialect)["C:P"]
    assert store.upkeep.check() == []
