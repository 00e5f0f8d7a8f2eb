"""`ggn-store gdl compile`, and game descriptions wherever documents are taken: load, validate, lint, convert."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ggn_store
from ggn_store import DocumentError, InputError, Store
from ggn_store.api.loading.specifications import compile_specification
from ggn_store.errors import SpecificationError
from tests.support.gdl_tiny import changed, tiny
from tests.support.program import Program, write

WRONG = changed("/interactions/list/step/conditions/-", "eq(entity.rnk, 'x')")
ODD = changed("/interactions/list/slide/conditions/-", "eq(entity.rank, 'whele')")
CARDS = changed("/topology", {"type": "zones", "zones": {"deck": {"type": "stack"}}})


def stateless() -> dict[str, Any]:
    """A description whose document is plain GGN but for the names of actions."""
    data = tiny()
    del data["state_schema"]["global"]["count"], data["state_schema"]["global"]["mode"]
    data["interactions"]["list"]["step"]["effects"].pop()
    data["interactions"]["list"]["slide"]["conditions"].pop()
    data["interactions"]["list"]["slide"]["effects"].pop()
    return data


# --- gdl compile ---


def test_the_document_is_written_and_its_pieces_are_told(run: Program, tmp_path: Path) -> None:
    result = run("gdl", "compile", write(tmp_path / "tiny.json", tiny()))
    assert result.code == 0
    assert result.out == compile_specification(tiny()).document.canonical()
    counted, pieces, *rest = result.err.split("\n")
    assert (counted, rest) == ("1,344 possibilities of 8 pieces", [""])
    assert pieces.startswith("TINY:S: Light's Piece (rank=stone, moved=false), TINY:+S: Light's Piece (rank=stone")


def test_a_map_and_a_style_are_taken_and_the_document_goes_into_a_file(run: Program, tmp_path: Path) -> None:
    path, output = write(tmp_path / "tiny.json", tiny()), tmp_path / "out.json"
    pieces = ("--piece-map", "stone=P", "--piece-map", "stone,moved=true=+P", "--style", "demo")
    assert run("gdl", "compile", path, "-o", output, *pieces).code == 0
    assert list(json.loads(output.read_text()))[:3] == ["$state", "DEMO:P", "DEMO:+P"]


def test_standard_input_is_taken(run: Program) -> None:
    result = run("gdl", "compile", "-", stdin=json.dumps(tiny()).encode())
    assert (result.code, result.out) == (0, compile_specification(tiny()).document.canonical())


@pytest.mark.parametrize("wish", ["K", "=K", "king"])
def test_a_map_without_a_kind_or_a_piece_is_wrong(run: Program, tmp_path: Path, wish: str) -> None:
    result = run("gdl", "compile", write(tmp_path / "tiny.json", tiny()), "--piece-map", wish)
    assert result.code in (1, 2)
    assert result.out == ""
    assert "king" in result.err


def test_a_refused_description_is_told_as_check_tells_it(run: Program, tmp_path: Path) -> None:
    path = write(tmp_path / "tiny.json", WRONG)
    compiled, checked = run("gdl", "compile", path), run("gdl", "check", path)
    assert (compiled.code, compiled.out) == (1, "")
    assert compiled.err == f"Error: {checked.out}"
    assert "Piece has no attribute rnk: did you mean rank?" in compiled.err


def test_plain_ggn_is_written_where_it_can_say_it_and_refused_with_what_is_lost(run: Program, tmp_path: Path) -> None:
    plain = run("gdl", "compile", write(tmp_path / "plain.json", stateless()), "--dialect", "diff")
    assert plain.code == 0
    assert ggn_store.parse(plain.out).dialect == "diff"
    lost = run("gdl", "compile", write(tmp_path / "tiny.json", tiny()), "--dialect", "diff")
    assert (lost.code, lost.out) == (1, "")
    assert '/TINY:S/a1/a2/0/when/count: the guard on "count"' in lost.err


def test_what_is_no_single_description_is_refused(run: Program, tmp_path: Path) -> None:
    write(tmp_path / "one.json", tiny())
    write(tmp_path / "two.json", tiny())
    for path in (tmp_path, tmp_path / "absent.json"):
        result = run("gdl", "compile", path)
        assert (result.code, result.out) == (1, "")


# --- load and the others ---


def test_a_description_is_loaded_like_a_document(run: Program, tmp_path: Path) -> None:
    result = run("load", write(tmp_path / "tiny.json", tiny()))
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("tiny@1: loaded, 1,344 possibilities")
    assert run("export", "tiny").out == compile_specification(tiny()).document.canonical()
    again = run("load", tmp_path / "tiny.json")
    assert again.out == "tiny@1: unchanged, nothing to store\n"


@pytest.mark.parametrize("data", [WRONG, CARDS], ids=["wrong", "cards"])
def test_a_refused_description_leaves_nothing_in_the_store(run: Program, tmp_path: Path, data: dict[str, Any]) -> None:
    path = write(tmp_path / "tiny.json", data)
    result = run("load", path)
    assert result.code == 1
    told = [line.strip() for line in run("gdl", "check", path).out.split("\n") if line]
    assert [line.strip() for line in result.err.split("\n") if line][1 : len(told) + 1] == told
    assert run("list").out == ""


def test_validate_lint_and_convert_know_descriptions(run: Program, tmp_path: Path) -> None:
    good, odd = write(tmp_path / "good.json", tiny()), write(tmp_path / "odd.json", ODD)
    assert run("validate", good).err == "1 document checked: all valid\n"
    assert "has no attribute rnk" in run("validate", write(tmp_path / "wrong.json", WRONG)).out
    assert 'nothing ever has rank "whele"' in run("lint", odd).out
    plain = run("convert", "--to", "diff", write(tmp_path / "plain.json", stateless()))
    assert plain.code == 0
    assert ggn_store.parse(plain.out).dialect == "diff"


def test_a_directory_and_a_stream_may_hold_descriptions_beside_documents(run: Program, tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    write(tmp_path / "games" / "tiny.json", tiny())
    lines = [{"name": "a", "document": tiny(), "title": "Another"}, {"name": "b", "document": WRONG}]
    (tmp_path / "games" / "more.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = run("load", tmp_path / "games", "--on-error", "skip")
    assert result.code == 1
    assert result.out.startswith("3 documents: 2 new, 1 failed; 2,688 possibilities")
    assert "has no attribute rnk" in result.err
    assert "Another" in run("show", "a").out


# --- the Python face ---


def test_a_store_keeps_the_description_with_its_ruleset(store: Store, tmp_path: Path) -> None:
    text = json.dumps(tiny(), indent=2)
    path = tmp_path / "tiny.json"
    path.write_text(text)
    revision = store.load(path)
    ruleset = store.ruleset("tiny")
    assert (revision.dialect, ruleset.definition) == ("gdl", None)
    specification = ruleset.specification
    assert specification is not None
    assert (specification.title, specification.text) == ("Tiny", text)
    start = ruleset.start
    assert start is not None
    assert start.board["a4"] == "TINY:+W".lower()
    moves = [(move.source, move.destination, move.action, move.step) for move in ruleset.moves(start)]
    assert moves == [(f"{file}1", f"{file}2", "step", 1) for file in "abcd"]


def test_decoded_json_is_taken_wherever_a_document_is(store: Store) -> None:
    store.load(tiny(), "tiny")
    assert store.ruleset("tiny").revision.dialect == "gdl"
    assert ggn_store.ruleset(tiny()).revision.dialect == "gdl"
    assert ggn_store.ruleset(json.dumps(tiny())).revision.dialect == "gdl"


def test_another_dialect_than_gdl_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="compiles to the dialect gdl, not diff"):
        store.load(write(tmp_path / "tiny.json", tiny()), dialect="diff")
    assert store.revisions() == ()


def test_a_refusal_names_every_problem_once(store: Store) -> None:
    data = changed("/interactions/list/slide/conditions/-", "eq(entity.rnk, 'x')", WRONG)
    with pytest.raises(SpecificationError) as caught:
        store.load(data, "tiny")
    assert len(caught.value.problems) == 2
    assert str(caught.value).count("has no attribute rnk") == 1
    assert "the same at /interactions/list/slide/conditions" in str(caught.value)
    assert isinstance(caught.value, DocumentError)
    assert store.revisions() == ()
