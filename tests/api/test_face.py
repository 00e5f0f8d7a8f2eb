"""The face itself: what it is made of, what it exports, and what it says to wrong calls."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ggn_store
from ggn_store import MoveError, Position, PositionError, Ruleset, Store, StoreError, ruleset
from tests.api import first_script
from tests.support.program import MUST

README = Path(__file__).parents[2] / "README.md"
START = "+rnbq+k^bn+r/pppppppp/8/8/8/8/PPPPPPPP/+RNBQ+K^BN+R / C/c"


def test_a_first_script_runs_and_needs_no_casts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first_script.main(tmp_path)
    assert "has no start position of its own" in capsys.readouterr().out
    source = Path(first_script.__file__).read_text(encoding="utf-8")
    code = source.partition("from __future__")[2]
    assert not re.search(r"\bcast\b|type: ignore|\bAny\b", code)


def test_the_first_script_has_what_the_readme_shows() -> None:
    written = {line.strip() for line in Path(first_script.__file__).read_text(encoding="utf-8").splitlines()}
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
    shown = [line.strip() for block in blocks for line in block.splitlines() if line.strip()]
    assert shown
    missing = [line for line in shown if line not in written and not re.match(r"from ggn_store import|store = ", line)]
    assert missing == []


@pytest.mark.long
def test_mypy_reads_the_first_script_as_strictly_as_any_users(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(Path(first_script.__file__).read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_the_names_at_the_top_are_few_and_all_there() -> None:
    names = dir(ggn_store)
    assert len(names) == len(set(names)) == 26
    for name in names:
        assert getattr(ggn_store, name) is not None
    with pytest.raises(AttributeError, match="'ggn_store' has no attribute 'no_such_name'"):
        getattr(ggn_store, "no_such_name")  # noqa: B009


def test_stores_and_rulesets_have_no_ancestors() -> None:
    assert (Store.__bases__, Ruleset.__bases__) == ((object,), (object,))


@pytest.mark.parametrize("address", [":memory:", "store.db", Path("store.db"), None])
def test_a_store_that_is_not_opened_says_what_to_call(address: object) -> None:
    with pytest.raises(TypeError, match=re.escape(f"call Store.open({address!r})")):
        Store(address)  # type: ignore[arg-type]


def test_a_path_is_an_address_wherever_one_is_taken(tmp_path: Path) -> None:
    # As a text this would be the address of another kind of database.
    files = [tmp_path / "oracle:one.db", tmp_path / "two.db"]
    for file in files:
        with Store.open(file) as store:
            store.load(MUST, "must")
        with Store.at(file) as store:
            assert store.info().rulesets == 1
    with Store.open(files[0]) as store:
        assert [each.state for each in store.exchange.compare(files[1])] == ["diverged"]
        with pytest.raises(StoreError, match="there is no store here"):
            store.exchange.pull(tmp_path / "none.db")
    with pytest.raises(StoreError, match="this is not the address of a store"):
        Store.open(3)  # type: ignore[arg-type]


def test_a_ruleset_without_a_start_position_says_so() -> None:
    rules = ruleset(MUST)
    assert not rules.has_start
    with pytest.raises(PositionError, match=r"^ruleset@1 has no start position of its own$"):
        _ = rules.start


def test_effects_that_no_document_states_are_an_error_and_assumed_ones_are_not() -> None:
    rules = ruleset(MUST)
    piece = rules.pieces[0]
    position = Position({rules.select(piece).sources[0]: piece})
    for assume, is_known in ((None, False), ("displacement", True)):
        moves = rules.moves(position, assume=assume)  # type: ignore[arg-type]
        assert moves
        assert {move.has_effects for move in moves} == {is_known}
    with pytest.raises(MoveError, match=r"does not say what .* changes; .* assume='displacement'"):
        _ = rules.moves(position)[0].effects


def test_a_position_is_printed_as_a_board_and_shown_as_python() -> None:
    start = Position.from_feen(START)
    lines = str(start).splitlines()
    assert (lines[0], lines[-3:]) == (
        "8  +r   n   b   q +k^   b   n  +r",
        ["1  +R   N   B   Q +K^   B   N  +R", "    a   b   c   d   e   f   g   h", "first to move"],
    )
    assert eval(repr(start)) == start


@pytest.mark.parametrize(
    ("position", "printed"),
    [
        (Position({"a2": "C:P", "b1": "c:p"}, side="second"), "2 P .\n1 . p\n  a b\nsecond to move"),
        (Position({}), "(no pieces)\nfirst to move"),
        (Position({"a1": "C:P", "a1A": "C:P"}), "a1 C:P\na1A C:P\nfirst to move"),
        (Position({"zz999": "C:P"}, {"c:p": 2}), "zz999 C:P\nhand of second: 2 c:p\nfirst to move"),
        (Position({"north": "C:P"}, state={"tide": "low"}), "north C:P\nfirst to move; tide=low"),
    ],
)
def test_a_position_without_a_shape_is_drawn_as_far_as_its_squares_go(position: Position, printed: str) -> None:
    assert str(position) == printed
