"""A directory of an export is there whole, or not at all, and nothing of somebody else is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ggn_store import GgnStoreError, InputError, Store, UnknownNameError
from ggn_store.api.questions.views import FORMATS, Format
from tests.support.exported import require_equal
from tests.support.program import Program, child_environment, write


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_that_is_interrupted_leaves_nothing_or_the_older_one(
    filled: Store, tmp_path: Path, form: Format
) -> None:
    class Enough(BaseException):
        pass

    def progress(what: str, done: int, total: int) -> None:
        if done == total - 8:
            raise Enough

    place = tmp_path / "place"
    place.mkdir()
    with pytest.raises(Enough):
        filled.views.export(place / "new" / "out", form, progress=progress)
    assert list(place.iterdir()) == []
    filled.views.export(place / "out", form, "a")
    before = contents(place)
    with pytest.raises(Enough):
        filled.views.export(place / "out", form, force=True, progress=progress)
    assert contents(place) == before
    assert sorted(path.name for path in place.iterdir()) == ["out"]
    assert filled.list()  # which still answers


def test_only_an_older_export_is_replaced(filled: Store, tmp_path: Path) -> None:
    out = tmp_path / "place" / "out"
    filled.views.export(out, "csv", "a")
    with pytest.raises(InputError, match="there is something already: name a new directory, or replace"):
        filled.views.export(out, "csv")
    filled.views.export(out, "parquet", force=True)
    require_equal(filled, out, "parquet")
    (out / "notebook.ipynb").write_text("mine", encoding="utf-8")
    before = contents(out)
    with pytest.raises(InputError, match=r"notebook\.ipynb in it is not of an export"):
        filled.views.export(out, "csv", force=True)
    assert contents(out) == before
    home = tmp_path / "home"
    home.mkdir()
    (home / "letter").write_text("dear", encoding="utf-8")
    with pytest.raises(InputError, match="letter in it is not of an export"):
        filled.views.export(home, "csv", force=True)
    # A manifest that lists somebody's file makes no export of it.
    (home / "manifest.json").write_text('{"format": "else", "tables": {"v": {"file": "letter"}}}', encoding="utf-8")
    with pytest.raises(InputError, match="letter in it is not of an export"):
        filled.views.export(home, "csv", force=True)
    forged = {"format": "ggn-store export", "beside": ["letter", 3], "tables": {"w": {"file": "../out"}}}
    others = ("[]", "{", '"x"', '{"format": "ggn-store export", "beside": [], "tables": 3}', "[" * 5000)
    for said in (json.dumps(forged), json.dumps(forged | {"beside": 3}), *others):
        (home / "manifest.json").write_text(said, encoding="utf-8")
        with pytest.raises(InputError, match="is not of an export"):
            filled.views.export(home, "csv", force=True)
    assert (home / "letter").read_text(encoding="utf-8") == "dear"
    (out / "notebook.ipynb").unlink()
    (out / "piece_moves.parquet").unlink()
    (out / "piece_moves.parquet").mkdir()
    with pytest.raises(InputError, match=r"piece_moves\.parquet in it is not of an export"):
        filled.views.export(out, "csv", force=True)
    (out / "piece_moves.parquet").rmdir()
    filled.views.export(out, "csv", force=True)
    require_equal(filled, out, "csv")
    assert sorted(path.name for path in (tmp_path / "place").iterdir()) == ["out"]


def test_a_directory_that_cannot_be_put_in_place_leaves_the_older_one(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.views.export(tmp_path / "place" / "out", "csv", "a")
    before = contents(tmp_path / "place")
    rename = Path.rename

    def fails(path: Path, target: Path) -> Path:
        if path.suffix == ".part":
            raise PermissionError(13, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(InputError, match="cannot be written: Permission denied"):
        filled.views.export(tmp_path / "place" / "out", "csv", force=True)
    assert contents(tmp_path / "place") == before


def test_an_empty_directory_is_taken_and_a_link_stays_one(filled: Store, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk")
    for form in ("csv", "sqlite"):
        filled.views.export(tmp_path / "link", form, force=True)
        assert (tmp_path / "link").readlink() == Path("disk")
        require_equal(filled, tmp_path / "disk", form)


def test_what_cannot_be_a_directory_is_refused(filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for directory, said in (
        (tmp_path / "file", "this is a file"),
        (tmp_path / "file" / "below", "cannot be written: "),
        (tmp_path / "here", "this is where you are"),
        (".", "this is where you are"),
    ):
        with pytest.raises(InputError, match=said):
            filled.views.export(directory, "csv", force=True)
    with pytest.raises(InputError, match='"xlsx" is not a format: parquet, duckdb, csv, sqlite'):
        filled.views.export("out", "xlsx")  # type: ignore[arg-type]
    for name in ("nothing", "a@7", "gone"):
        with pytest.raises(UnknownNameError):
            filled.views.export("out", "csv", name)
    assert list((tmp_path / "here").iterdir()) == []


def test_what_appears_meanwhile_is_not_replaced(filled: Store, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def progress(what: str, done: int, total: int) -> None:
        if done == 1:
            out.mkdir()
            (out / "mine").write_text("x", encoding="utf-8")

    with pytest.raises(InputError, match="there is something already"):
        filled.views.export(out, "csv", progress=progress)
    assert contents(out) == {"mine": b"x"}


@pytest.mark.parametrize("form", ["parquet", "csv", pytest.param("duckdb", marks=pytest.mark.long), "sqlite"])
def test_a_disk_that_is_full_is_told_in_one_line(run: Program, form: str) -> None:
    large = {
        "C:R": {
            f"a{source}": {
                f"b{number}": [{"must": {f"c{source * number}": "empty"}, "diff": {}}] for number in range(2, 120)
            }
            for source in range(1, 8)
        }
    }
    assert run("--db", "store.db", "load", write("large.json", large)).code == 0
    run("--db", "store.db", "export", "--format", form, "whole")
    limit = max(path.stat().st_size for path in Path("whole").iterdir()) // 2 // 512
    whole = f'ulimit -f {limit}; exec "{sys.executable}" -B -m ggn_store --db store.db export --format {form} out'
    refused = subprocess.run(
        ["/bin/sh", "-c", whole], env=child_environment(), capture_output=True, encoding="utf-8", check=False
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr in (
        "Error: out: cannot be written: File too large\n",
        "Error: out: cannot be written: Input/output error\n",
    )
    assert sorted(path.name for path in Path().iterdir()) == ["large.json", "store.db", "whole"]


@pytest.mark.parametrize(("module", "form"), [("pyarrow", "parquet"), ("pyarrow", "duckdb"), ("duckdb", "duckdb")])
def test_a_missing_extra_is_named_before_anything_is_written(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, form: Format
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(GgnStoreError, match=rf"this needs {module}.*pip install 'ggn-store\[duckdb\]'"):
        filled.views.export(tmp_path / "out", form)
    assert not [path for path in tmp_path.iterdir() if path.name != "store.db"]
    for other in ("csv", "sqlite"):
        filled.views.export(tmp_path / other, other)
        require_equal(filled, tmp_path / other, other)
