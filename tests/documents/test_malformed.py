"""Malformed input is refused, with every problem named where it is, and leaves nothing behind.

The documents are data, in tests/data/malformed/*.toml (structure.toml tells the fields). Mutants of the valid ones
are held against tests/support/malformed/checker.py, a second opinion that shares no line with the package.
"""

import functools
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from ggn_store import DocumentError, GgnStoreError, Store, is_valid, limits, parse, problems
from ggn_store.errors import Problem
from ggn_store.model.documents.document import Dialect
from tests.support.malformed.checker import RULES, Fault, faults, step
from tests.support.malformed.mutants import mutant

DATA = Path(__file__).parents[1] / "data" / "malformed"
THEMES = ("structure", "dialects", "identifiers", "squares", "rules", "json", "several")
TRACES = re.compile(r"Traceback|File \"|\b\w*(?:Decode|Encode|Recursion|Key|Type|Value|Attribute|Index)Error\b")


@dataclass(frozen=True)
class Case:
    """One malformed document, and what must be said about it."""

    name: str
    raw: bytes
    pointers: tuple[str, ...]
    at_least: bool = False
    alone: bool = False
    word: str = ""
    together: tuple[str, ...] = ()
    at: str = ""
    dialect: Dialect | None = None


@dataclass(frozen=True)
class Valid:
    """One valid document, and the dialect that it is."""

    name: str
    raw: bytes
    dialect: str
    grow: bool


# --- giants, which no file should hold --------------------------------------------------------------------


def _must(condition: str) -> bytes:
    return b'{"C:P": {"e2": {"e4": [{"must": {' + condition.encode() + b"}}]}}}"


def _hands(count: str) -> bytes:
    return b'{"C:P": {"e2": {"e4": [{"diff": {"hands": {"C:P": ' + count.encode() + b"}}}]}}}"


GIANTS: dict[str, Callable[[], bytes]] = {
    "million_brackets": lambda: b"[" * 1_000_000,
    "million_brackets_closed": lambda: b"[" * 1_000_000 + b"]" * 1_000_000,
    "hundred_thousand_objects": lambda: b'{"a":' * 100_000,
    "hundred_thousand_objects_in_a_state": lambda: _must('"e4":' + '{"e4":' * 100_000 + "0" + "}" * 100_000),
    "sixty_five_levels": lambda: b"[" * 65 + b"]" * 65,
    "five_thousand_digits": lambda: _hands("7" * 5_000),
    "five_thousand_digits_and_a_bad_square": lambda: _hands("7" * 5_000).replace(b"e2", b"5e", 1),
    "five_thousand_digits_negative": lambda: _hands("-" + "7" * 5_000),
    "five_thousand_digits_of_fraction": lambda: _hands("1." + "3" * 5_000),
    "five_thousand_digits_of_exponent": lambda: _hands("1e" + "3" * 5_000),
    "five_thousand_digits_as_a_state": lambda: _must('"e4": ' + "7" * 5_000),
    "five_thousand_digits_as_the_document": lambda: b"7" * 5_000,
    "million_characters_of_label": lambda: (
        b'{"GO:S": {"' + b"x" * 1_000_000 + b'": {"a": [{"perform": {"a": null}}]}}}'
    ),
    "million_characters_of_identifier": lambda: b'{"' + b"C" * 1_000_000 + b':P": {"e2": {"e4": [{}]}}}',
    "million_characters_of_square": lambda: _must('"' + "e" * 1_000_000 + '4": "empty"'),
    "million_characters_of_state": lambda: _must('"e4": "' + "e" * 1_000_000 + '"'),
    "million_characters_of_unknown_key": lambda: b'{"C:P": {"e2": {"e4": [{"' + b"m" * 1_000_000 + b'": {}}]}}}',
    "million_spaces": lambda: b" " * 1_000_000,
    "million_quotes": lambda: b'"' * 1_000_000,
    "million_backslashes": lambda: b'{"' + b"\\" * 1_000_000,
    "ten_thousand_problems": lambda: _must(", ".join(f'"E{n}": "empty"' for n in range(10_000))),
    "ten_thousand_duplicates": lambda: _must(", ".join(['"e4": "empty"'] * 10_001)),
}


# --- the data ---------------------------------------------------------------------------------------------


def _raw(table: dict[str, Any]) -> bytes:
    if "made" in table:
        return GIANTS[table["made"]]()
    if "latin" in table:
        return str(table["latin"]).encode("latin-1")
    return str(table["text"]).encode(table.get("encoding", "utf-8"))


def _case(table: dict[str, Any]) -> Case:
    return Case(
        name=table["name"],
        raw=_raw(table),
        pointers=tuple(table.get("pointers", ())),
        at_least=table.get("at_least", False),
        alone=table.get("alone", False),
        word=table.get("word", "").strip('"'),
        together=tuple(table.get("together", ())),
        at=table.get("at", ""),
        dialect=table.get("dialect"),
    )


def _filled(template: dict[str, Any], label: str, value: str) -> dict[str, Any]:
    text = value if template.get("raw") else json.dumps(value, ensure_ascii=False)[1:-1]
    table = {key: _put(item, value) for key, item in template.items() if key != "values"}
    table["name"] = f"{template['name']}_{label}"
    table["pointers"] = [pointer.replace("<>", step(value)[1:]) for pointer in template.get("pointers", ())]
    if "text" in template:
        table["text"] = template["text"].replace("<>", text)
    return table


def _put(item: Any, value: str) -> Any:
    if isinstance(item, list):
        return [_put(inner, value) for inner in item]
    return item.replace("<>", value) if isinstance(item, str) else item


def _cases() -> Iterator[Case]:
    for theme in THEMES:
        data = tomllib.loads((DATA / f"{theme}.toml").read_text("utf-8"))
        for table in data.get("case", ()):
            yield _case(table)
        for template in data.get("template", ()):
            for label, value in template["values"].items():
                yield _case(_filled(template, label, value))


def _valid() -> Iterator[Valid]:
    for table in tomllib.loads((DATA / "valid.toml").read_text("utf-8"))["document"]:
        raw = re.sub(rb"<(\d+)>", lambda found: b"e" * int(found[1]), _raw(table))
        yield Valid(table["name"], raw, table["dialect"], table.get("grow", False))


CASES = list(_cases())
VALID = list(_valid())
CI_MUTANTS = 1_500
GROUNDS = [document.raw for document in VALID if document.grow]
BAD_NAMES = [*tomllib.loads((DATA / "names.toml").read_text("utf-8"))["bad"], "x" * 300, "chess\ud800"]


def _each(items: Sequence[Case | Valid]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", items, ids=[item.name for item in items])


# --- each document ------------------------------------------------------------------------------------------


def test_the_corpus_has_no_name_and_no_text_twice() -> None:
    assert len(CASES) >= 170
    assert [name for name, count in Counter(case.name for case in CASES).items() if count > 1] == []
    texts = Counter((case.raw, case.dialect) for case in CASES)
    assert [case.name for case in CASES if texts[case.raw, case.dialect] > 1] == []


@_each(CASES)
def test_a_malformed_document_is_refused_where_it_is_wrong_however_it_comes(case: Case) -> None:
    """By the checker, by `problems` of its bytes, by `parse`, as a text, and as Python data without lines."""
    check_checker(case)
    found = problems(case.raw, dialect=case.dialect)
    check_places(case, found)
    check_parse(case, found)
    check_text(case, found)
    check_data(case)


def check_checker(case: Case) -> None:
    found = faults(case.raw, case.dialect)

    assert found
    if case.alone:
        assert {fault.rule for fault in found} <= {"syntax", "encoding"}
    elif not case.at_least:
        assert {fault.pointer for fault in found} == set(case.pointers)


def check_places(case: Case, found: list[Problem]) -> None:
    told = "\n".join(map(str, found))[:2000]

    first = [problem for problem in found if problem.pointer in case.pointers[:1] or not case.pointers]
    assert any(case.word in f"{problem.message} {problem.found}" for problem in first), told
    assert any(_is_at(problem, case.at) for problem in first), told
    if case.alone:
        assert len(found) == 1
    elif not case.at_least:
        assert {problem.pointer for problem in found} == set(case.pointers), told
    assert set(case.pointers) <= {problem.pointer for problem in found}, told
    if case.together:
        texts = [f"{problem.pointer} {problem.message} {problem.found}" for problem in found]
        assert any(all(word in text for word in case.together) for text in texts), told
    assert all(problem.line and problem.column for problem in found), told


def _is_at(problem: Problem, at: str) -> bool:
    return at in ("", f"{problem.line}", f"{problem.line}:{problem.column}")


def check_parse(case: Case, found: list[Problem]) -> None:
    """It raises exactly the problems, and there is no traceback."""
    with pytest.raises(DocumentError) as caught:
        parse(case.raw, dialect=case.dialect)

    error = caught.value
    assert list(error.problems) == found
    assert str(error)
    assert not TRACES.search(str(error))
    assert str(error).isprintable() or set(str(error)) & set("\n")
    assert case.dialect or not is_valid(case.raw)


def check_text(case: Case, found: list[Problem]) -> None:
    try:
        text = case.raw.decode("utf-8")
    except UnicodeDecodeError:
        return
    if not text.startswith("\ufeff"):
        assert problems(text, dialect=case.dialect) == found


def check_data(case: Case) -> None:
    repeated = []

    def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
        repeated.append(len(dict(members)) < len(members))
        return dict(members)

    try:
        data = json.loads(case.raw.decode("utf-8"), object_pairs_hook=once)
    except (ValueError, RecursionError):
        return  # text that Python's reader cannot read either
    if not isinstance(data, dict) or any(repeated):
        return
    found = problems(data, dialect=case.dialect)

    assert found
    assert set(case.pointers) <= {problem.pointer for problem in found}
    assert case.at_least or {problem.pointer for problem in found} == set(case.pointers)
    assert all(problem.line is problem.column is None for problem in found)


def test_a_document_of_ten_thousand_problems_reports_them_in_order_of_the_text() -> None:
    found = problems(GIANTS["ten_thousand_problems"]())

    assert [problem.pointer for problem in found][:3] == [f"/C:P/e2/e4/0/must/E{n}" for n in range(3)]
    assert [problem.column for problem in found] == sorted(problem.column or 0 for problem in found)


CIRCLE: dict[str, Any] = {}
CIRCLE["C:P"] = CIRCLE


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        ({1: {"e2": {"e4": [{}]}}}, None),
        ({None: {"e2": {"e4": [{}]}}}, None),
        ({("C:P",): {"e2": {"e4": [{}]}}}, None),
        ({"C:P": {2: {"e4": [{}]}}}, None),
        ({"C:P": {"e2": {b"e4": [{}]}}}, None),
        ({"C:P": {"e2": {"e4": {1, 2}}}}, "/C:P/e2/e4"),
        ({"C:P": {"e2": {"e4": b"[]"}}}, "/C:P/e2/e4"),
        ({"C:P": {"e2": {"e4": [object()]}}}, "/C:P/e2/e4/0"),
        ({"C:P": {"e2": {"e4": [{"must": {"e4": object}}]}}}, "/C:P/e2/e4/0/must/e4"),
        ({"C:P": {"e2": {"e4": [{"must": {"e4": b"empty"}}]}}}, "/C:P/e2/e4/0/must/e4"),
        ({"C:P": {"e2": {"e4": [{"must": {"\ud800": "empty"}}]}}}, "/C:P/e2/e4/0/must/\ud800"),
        ({"GO:S": {"\ud800": {"b": [{"perform": {"b": None}}]}}}, "/GO:S/\ud800"),
        ({"GO:S": {"a\0": {"b": [{"perform": {"b": None}}]}}}, "/GO:S/a\0"),
        ({"$schema": "\udc00", "C:P": {"e2": {"e4": [{}]}}}, "/$schema"),
        ({"C:P": {"e2": {"e4": [{"diff": {"hands": {"C:P": True}}}]}}}, "/C:P/e2/e4/0/diff/hands/C:P"),
        ({"C:P": {"e2": {"e4": [{"diff": {"hands": {"C:P": math.nan}}}]}}}, "/C:P/e2/e4/0/diff/hands/C:P"),
        ({"C:P": {"e2": {"e4": [{"diff": {"hands": {"C:P": -math.inf}}}]}}}, "/C:P/e2/e4/0/diff/hands/C:P"),
        ({"C:P": {"e2": {"e4": [{"diff": {"hands": {"C:P": 10**5000}}}]}}}, "/C:P/e2/e4/0/diff/hands/C:P"),
        ({"C:P": {"e2": {"e4": [{"diff": {"hands": {"C:P": 1j}}}]}}}, "/C:P/e2/e4/0/diff/hands/C:P"),
        ({"C:P": {"e2": {"e4": [{"diff": {"toggle": 1}}]}}}, "/C:P/e2/e4/0/diff/toggle"),
        (CIRCLE, None),
        ([], ""),
        ([{"C:P": {"e2": {"e4": [{}]}}}], ""),
        (None, ""),
        (0, ""),
    ],
)
def test_python_data_that_no_json_holds_is_refused(data: Any, pointer: str | None) -> None:
    found = problems(data)

    assert found
    assert pointer is None or pointer in [problem.pointer for problem in found]
    assert not TRACES.search("\n".join(map(str, found)))
    assert not is_valid(data)
    with pytest.raises(DocumentError):
        parse(data)


@_each(VALID)
def test_what_lies_just_inside_every_border_is_accepted(case: Valid) -> None:
    assert faults(case.raw) == []
    assert problems(case.raw) == []
    assert is_valid(case.raw)
    document = parse(case.raw)
    assert document.dialect == case.dialect
    assert faults(document.canonical(), case.dialect) == []


def test_more_pieces_or_squares_than_the_limits_allow_are_refused() -> None:
    def pieces(count: int) -> bytes:
        return json.dumps({f"C{n}:P": {"e2": {"e4": [{}]}} for n in range(count)}).encode()

    def squares(count: int) -> bytes:
        return _must(", ".join(f'"e{n}": "empty"' for n in range(1, count + 1)))

    for made, limit in ((pieces, limits.PIECES.most), (squares, limits.SQUARES.most)):
        assert problems(made(limit)) == []
        [problem] = problems(made(limit + 1))
        assert f"{limit + 1}" in f"{problem.found}".replace(",", "")
        assert f"{limit}" in f"{problem.allowed}".replace(",", "")
        assert problem.line == 1


def test_a_text_longer_than_the_limit_is_refused() -> None:
    text = GROUNDS[0]
    with limits.allow({"document-bytes": len(text)}):
        assert problems(text) == []
    with limits.allow({"document-bytes": len(text) - 1}):
        [problem] = problems(text)

    assert str(len(text)) in f"{problem.found}"
    assert (problem.line, problem.column) == (1, 1)


# --- the store ----------------------------------------------------------------------------------------------


def _rows(store: Store) -> dict[str, int]:
    """How many rows each table of the store has, apart from the migrations' own."""
    with store.session.database.reading() as connection:
        names = [name for name in sa.inspect(connection).get_table_names() if name != "ggn_store_version"]
        count = sa.func.count()
        return {name: connection.scalar(sa.select(count).select_from(sa.table(name))) or 0 for name in names}


def _is_empty(store: Store) -> bool:
    rows = _rows(store)
    return bool(rows) and set(rows.values()) == {0} and not store.list()


def test_no_malformed_document_leaves_anything_in_the_store(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "malformed.json"
    for case in CASES:
        path.write_bytes(case.raw)
        with pytest.raises(DocumentError) as caught:
            store.load(path, name="malformed", dialect=case.dialect)
        assert not TRACES.search(str(caught.value)), case.name
        assert {problem.file for problem in caught.value.problems} == {str(path)}, case.name

    assert _is_empty(store)


def test_a_malformed_document_changes_nothing_of_what_is_there(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    path.write_bytes(GROUNDS[0])
    store.load(path, name="rules")
    before = _rows(store)
    for case in CASES[::10]:
        path.write_bytes(case.raw)
        with pytest.raises(DocumentError):
            store.load(path, name="rules", dialect=case.dialect)

    assert _rows(store) == before
    assert store.ruleset("rules").export() == parse(GROUNDS[0]).canonical()


def test_no_bad_name_is_stored(store: Store, tmp_path: Path) -> None:
    good: dict[str, Any] = {"C:P": {"e2": {"e4": [{"must": {"e4": "empty"}}]}}}
    path = tmp_path / "good.json"
    path.write_text(json.dumps(good), "utf-8")
    for name in BAD_NAMES:
        for source in (good, path):
            with pytest.raises(GgnStoreError) as caught:
                store.load(source, name=name)
            assert str(caught.value).isprintable(), name
            assert not TRACES.search(str(caught.value)), name
        with pytest.raises(GgnStoreError):
            store.ruleset(name)

    assert _is_empty(store)
    store.load(good, name="good")
    assert [summary.revision.name for summary in store.list()] == ["good"]


def test_documents_at_the_borders_load_and_come_back(store: Store, tmp_path: Path) -> None:
    for case in VALID:
        path = tmp_path / "valid.json"
        path.write_bytes(case.raw)
        store.load(path, name=case.name)

    assert {case.name: store.ruleset(case.name).export() for case in VALID} == {
        case.name: parse(case.raw).canonical() for case in VALID
    }


# --- mutants ------------------------------------------------------------------------------------------------


@functools.cache
def _faults(number: int) -> Sequence[Fault]:
    """What the checker finds wrong with a mutant."""
    return faults(mutant(number, GROUNDS)[1])


def _accepted(raw: bytes) -> bool | str:
    """The verdict of the package, or what else it did."""
    try:
        canonical = parse(raw).canonical()
    except DocumentError as error:
        if not error.problems or TRACES.search(str(error)):
            return f"a strange error: {error}"
        return False
    except Exception as error:
        return f"not a DocumentError but {error!r}"
    return True if parse(canonical).canonical() == canonical else "its canonical text is another document"


def _verdicts(numbers: range) -> tuple[Counter[str], list[str]]:
    """How often each verdict was, and the mutants (their numbers first) on which the two do not agree."""
    counts: Counter[str] = Counter()
    disagreements = []
    for number in numbers:
        told, raw = mutant(number, GROUNDS)
        broken = _faults(number)
        verdict = _accepted(raw)
        counts[str(verdict)] += 1
        if verdict is not (not broken):
            disagreements.append(f"{told}\n  package: {verdict}\n  checker: {broken[:5]}\n  {raw[:3000]!r}")
    return counts, disagreements


def _both_ways(numbers: range) -> None:
    counts, disagreements = _verdicts(numbers)

    assert not disagreements, "\n".join([f"{len(disagreements)} disagreements", *disagreements[:10]])
    assert min(counts["True"], counts["False"]) > len(numbers) // 10, counts


def test_mutants_get_the_verdict_of_the_checker() -> None:
    _both_ways(range(CI_MUTANTS))


@pytest.mark.long
def test_twenty_thousand_mutants_get_the_verdict_of_the_checker() -> None:
    _both_ways(range(20_000))


def test_mutants_would_find_out_a_validator_that_lacks_a_rule() -> None:
    alone = {rules.pop() for number in range(CI_MUTANTS) if len(rules := _rules(number)) == 1}

    assert set(RULES) - alone == set()


def test_mutants_would_find_out_a_validator_that_refuses_too_much() -> None:
    """Each thing that only looks wrong is in some mutant that the checker accepts."""
    accepted = b"\n".join(mutant(number, GROUNDS)[1] for number in range(CI_MUTANTS) if not _faults(number))

    looks_wrong = [b'"deny":{}', b'"diff":{}', b'"*"', b"1.0", b"\xef\xbb\xbf", b"\\u00", "東".encode(), b"e" * 255]
    assert [part for part in looks_wrong if part not in accepted] == []


def _rules(number: int) -> set[str]:
    return {fault.rule for fault in _faults(number)}


def _through_the_store(store: Store, path: Path, numbers: range) -> None:
    """Loads the mutants: a valid one comes back as it is, a malformed one leaves nothing behind."""
    for number in numbers:
        told, raw = mutant(number, GROUNDS)
        path.write_bytes(raw)
        if not _faults(number):
            store.load(path, name="mutant")
            assert store.ruleset("mutant").export() == parse(raw).canonical(), told
            continue
        with pytest.raises(DocumentError):  # a load that goes through shows in the list below
            store.load(path, name=f"malformed-{number}")
    assert {summary.revision.name for summary in store.list()} == {"mutant"}


def test_mutants_load_whole_or_not_at_all(store: Store, tmp_path: Path) -> None:
    _through_the_store(store, tmp_path / "mutant.json", range(150))


@pytest.mark.long
def test_three_thousand_mutants_load_whole_or_not_at_all(store: Store, tmp_path: Path) -> None:
    _through_the_store(store, tmp_path / "mutant.json", range(3_000))
