"""How a game is played, in stores: it comes with files, and goes wherever revisions go."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from ggn_store import Store
from ggn_store.documents.ggn import parse
from ggn_store.errors import ConflictError, DocumentError, InputError, NotationError, StoreError
from ggn_store.games import library, playing
from ggn_store.model.documents.document import Document
from ggn_store.model.moves import play_text
from ggn_store.model.moves.play import Duty, Outcome, Play
from ggn_store.notation.complaints import Complaints
from ggn_store.store.rulesets import load
from ggn_store.store.server import roles
from tests.support.databases import DATABASES, new_store_address
from tests.support.guards import drop_guards
from tests.support.plays import HOSTILE
from tests.support.program import Command, write
from tests.support.program import _own_place as _own_place
from tests.support.program import ggn as ggn
from tests.support.program import run as run
from tests.support.views import GAMES, PLAY, START, played, rows

DUTIES = "SELECT DISTINCT duty FROM v_duties WHERE ruleset = 'game' ORDER BY duty"


@pytest.fixture(params=DATABASES)
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Another store than `store`."""
    place = tmp_path / "other"
    place.mkdir()
    with ExitStack() as stack:
        yield stack.enter_context(Store.open(stack.enter_context(new_store_address(request.param, place, request))))


def saying(**values: object) -> Document:
    return replace(played(), envelope=replace(played().envelope, play=play_text.text(replace(PLAY, **values))))  # type: ignore[arg-type]


def files(directory: Path, document: str, beside: str, name: str = "game") -> Path:
    (directory / f"{name}.json").write_text(document, encoding="utf-8")
    (directory / f"{name}.toml").write_text(beside, encoding="utf-8")
    return directory / f"{name}.json"


def test_a_file_beside_a_document_says_it_and_an_export_gives_the_same_revision(store: Store, tmp_path: Path) -> None:
    revision = store.load(played(), "game")
    ruleset = store.ruleset("game")
    assert ruleset.play == PLAY
    path = files(tmp_path, ruleset.export(), ruleset.export_beside())
    assert store.load(path).status == "unchanged"
    assert store.load(path, "again").digest == revision.digest
    assert store.ruleset("again").export_beside() == ruleset.export_beside()


def test_a_line_of_ndjson_says_it(store: Store, tmp_path: Path) -> None:
    line = {"name": "game", "document": played().data(), "title": "A game", "start": START, "play": PLAY.data()}
    path = tmp_path / "games.ndjson"
    path.write_text(f"{json.dumps(line)}\n", encoding="utf-8")
    [loaded] = store.load_all([path])
    assert loaded.error is None
    assert (store.ruleset("game").play, store.ruleset("game").revision.envelope.title) == (PLAY, "A game")
    path.write_text(f"{json.dumps(line | {'play': {'duties': ['win']}})}\n", encoding="utf-8")
    [loaded] = store.load_all([path])
    assert "/play/duties/0: it is one of a few words" in str(loaded.error)
    assert store.ruleset("game").revision.number == 1


def test_what_a_file_says_wrong_is_told_with_its_place_and_nothing_is_stored(store: Store, tmp_path: Path) -> None:
    document = json.dumps(GAMES["diff"])
    path = files(tmp_path, document, 'board = "2x2"\n[play]\nduties = ["pass", "win"]\nhosts = []\n')
    with pytest.raises(DocumentError) as caught:
        store.load(path)
    assert [(each.pointer, each.found) for each in caught.value.problems] == [
        ("/play/hosts", '"hosts"'),
        ("/play/duties/1", '"win"'),
    ]
    crossing = '{ piece = "C:P", source = "a1", destination = "a2", through = ["h8"] }'
    with pytest.raises(DocumentError) as caught:
        store.load(files(tmp_path, document, f'board = "2x2"\nstart = "P / C"\n[play]\ncrossing = [{crossing}]\n'))
    assert [(each.file, each.pointer, each.message[:41]) for each in caught.value.problems] == [
        (str(path.with_suffix(".toml")), "/start", "what was given with the document does not"),
        (str(path.with_suffix(".toml")), "/play", "how the game is played names squares off "),
    ]
    assert not store.list()


WRONG_DUTIES = [
    ('"no-drop-mate"', "/play/duties/0", "no-drop-mate says in pieces what it is about"),
    ('"no-leap-from-check"', "/play/duties/0", "no-leap-from-check says in pieces what it is about"),
    ('"pass", { name = "capture-with" }', "/play/duties/1", "capture-with says in pieces what it is about"),
    ('"last-actions"', "/play/duties/0", "last-actions says in pieces what it is about"),
    ('{ name = "royal-safety", pieces = ["C:P"] }', "/play/duties/0/pieces", "royal-safety is about no pieces"),
    ('"clear-marks"', "/play/duties/0", "what clear-marks takes a mark off to is said in reverts"),
]


@pytest.mark.parametrize(("duties", "pointer", "message"), WRONG_DUTIES)
def test_a_duty_beside_a_document_that_would_be_about_nothing_is_refused(
    store: Store, tmp_path: Path, duties: str, pointer: str, message: str
) -> None:
    with pytest.raises(DocumentError) as caught:
        store.load(files(tmp_path, json.dumps(GAMES["diff"]), f"[play]\nduties = [{duties}]\n"))
    assert [(each.pointer, each.message) for each in caught.value.problems] == [(pointer, message)]
    assert not store.list()


WRONG_NAMES = [
    ({"outcome": [{"when": "extinct", "verdict": "loss", "pieces": ["Q:Q"]}]}, 'names pieces that .* found ["Q:Q"]'),
    ({"outcome": [{"when": "extinct", "verdict": "loss", "pieces": ["nonsense!"]}]}, 'found ["nonsense!"]'),
    ({"duties": [{"name": "no-drop-mate", "pieces": ["c:+p^", "Q:Q"]}]}, 'found ["Q:Q"]'),
    ({"duties": [{"name": "last-actions", "pieces": ["jump"]}]}, 'names actions that .* found ["jump"]'),
    ({"reverts": {"C:-P": "c:p"}}, "C:-P reverts to a piece of the other side; found"),
    ({"reverts": {"C:-P": "C:Q"}}, 'found ["C:Q"]'),
    ({"crossing": [{"piece": "Q:Q", "source": "a1", "destination": "a2", "through": ["b1"]}]}, 'found ["Q:Q"]'),
    ({"crossing": [{"piece": "C:P", "source": "a1", "destination": "a2", "through": ["c7"]}]}, 'found ["c7"]'),
    ({"outcome": [{"when": "goal", "verdict": "win", "squares": ["zz"]}]}, 'names squares that .* found ["zz"]'),
]


@pytest.mark.parametrize(("said", "message"), WRONG_NAMES)
def test_pieces_actions_and_squares_that_the_document_does_not_have_are_refused(
    said: dict[str, Any], message: str
) -> None:
    document = parse(GAMES["diff"])
    right = Play((Duty("no-drop-mate", ("C:P",)),), {"C:-P": "C:P"}, (), (Outcome("goal", "win", squares=("b2",)),))
    for text_or_data in (GAMES["diff"], json.dumps(GAMES["diff"])):
        assert parse(text_or_data, envelope=replace(document.envelope, play=play_text.text(right))).envelope.play
        declared = play_text.text(play_text.read(said, Complaints()))
        with pytest.raises(DocumentError, match=re.escape(message).replace(r"\.\*", ".*")):
            parse(text_or_data, envelope=replace(document.envelope, play=declared))


def test_a_revision_without_it_has_no_rows_and_the_digest_that_it_had(store: Store) -> None:
    plain = store.load(GAMES["gdl"], "game")
    assert store.ruleset("game").play == Play()
    assert rows(store, DUTIES) == []
    assert store.load(played(), "game").digest != plain.digest
    assert [row["duty"] for row in rows(store, DUTIES)] == ["history", "no-drop-mate", "pass", "side-effects"]
    assert store.load(GAMES["gdl"], "game").digest == plain.digest


def test_it_travels_with_push_pull_and_bundles(store: Store, other: Store, tmp_path: Path) -> None:
    store.load(GAMES["gdl"], "game")
    digest = store.load(played(), "game").digest
    store.exchange.push(other, ["game"])
    assert other.ruleset("game").play == PLAY
    changed = saying(duties=(Duty("pass"),))
    other.load(changed, "game")
    store.exchange.pull(other, ["game"])
    assert store.ruleset("game").play.duties == (Duty("pass"),)
    store.exchange.create_bundle(tmp_path / "games.bundle", ["game"])
    other.delete("game")
    other.exchange.load_bundle(tmp_path / "games.bundle", to="copy")
    assert [other.ruleset(f"copy@{number}").revision.digest for number in (2, 3)] == [digest, changed.digest]
    assert other.ruleset("copy@2").play == PLAY
    assert (list(store.upkeep.check()), list(other.upkeep.check())) == ([], [])


def test_a_bundle_whose_play_is_none_is_refused_with_its_line(store: Store, other: Store, tmp_path: Path) -> None:
    path = tmp_path / "games.bundle"
    forged = replace(played(), envelope=replace(played().envelope, play='{"duties":["win"]}'))
    with store.session.writing() as connection:
        load.load(store.session.database, connection, forged, "game")
    store.exchange.create_bundle(path, ["game"])
    with pytest.raises(InputError, match=r'line 4: .*play/duties/0: it is one of a few words; found "win"'):
        other.exchange.load_bundle(path)
    with pytest.raises(StoreError, match='play/duties/0: it is one of a few words; found "win"'):
        store.exchange.push(other, ["game"])
    assert not other.list()


def test_a_value_that_says_it_wrong_is_not_stored(store: Store) -> None:
    forged = replace(played(), envelope=replace(played().envelope, play='{"duties":["win"]}'))
    with pytest.raises(NotationError, match='play/duties/0: it is one of a few words; found "win"'):
        store.load(forged, "game")
    with pytest.raises(NotationError, match="play/duties/0"):
        store.reviews.propose(forged, "game", author="Ann")
    assert not store.list()


def test_a_server_with_roles_takes_what_this_program_writes_and_nothing_else(store: Store) -> None:
    """What the seals call play is what `model.moves.play` does: of all games, and of texts with slips."""
    database = store.session.database
    if not database.is_server:
        return
    declared = [playing.envelope(library.read_game(name)).play for name in library.names()]
    declared += [play_text.text(PLAY), play_text.text(Play(outcomes=PLAY.outcomes)), None]
    slips = [each if isinstance(each, str) else json.dumps(each, separators=(",", ":")) for each, _ in HOSTILE]
    slips += [str(play_text.text(PLAY)).replace(*slip) for slip in SLIPS]
    with database.writing() as connection:
        roles.initialise(database, connection)
        for each in (*declared, *slips):
            found = connection.execute(text("SELECT ggn_is_play(:declared)"), {"declared": each}).scalar_one()
            assert found == (each in declared), each


# Changes of a text that is sound: other orders, blanks, types, words.
SLIPS = [
    ('"pass"', '"pass" '),
    ('"D:M","d:m"', '"d:m","D:M"'),
    ('"in_check":false', '"in_check":"false"'),
    ('"count":2', '"count":"2"'),
    ('"safe":true', '"safe":false'),
    ('"draw"', '"lost"'),
    ('"side":"first"', '"side":"white"'),
    ('"goal"', '"gaol"'),
    ('"history"', '"histories"'),
    ('"history","side-effects"', '"side-effects","history"'),
    ('"D:+M":"D:M"', '"D:+M":null'),
    ('{"duties"', '{"more":[],"duties"'),
]


def test_a_history_tells_it_and_brings_it_back(store: Store) -> None:
    store.load(played(), "game")
    store.load(saying(host=()), "game")
    assert [change.name for change in store.history.diff("game@1", "game@2").fields] == ["play"]
    store.history.restore("game@1")
    assert (store.ruleset("game").revision.number, store.ruleset("game").play) == (3, PLAY)


def test_two_who_change_it_at_once_are_merged_or_told(store: Store) -> None:
    store.load(played(), "game")
    store.load(saying(duties=()), "game")
    document = saying()
    titled = replace(document, envelope=replace(document.envelope, title="A game"))
    merged = store.load(titled, "game", base="1", merge=True)
    assert (merged.envelope.title, store.ruleset("game").play.duties) == ("A game", ())
    with pytest.raises(ConflictError) as caught:
        store.load(saying(duties=(Duty("pass"),)), "game", base="1", merge=True)
    assert [conflict.path for conflict in caught.value.merge.conflicts] == [("play",)]


def test_it_can_be_proposed(store: Store) -> None:
    proposal = store.reviews.propose(played(), "game", author="Ann")
    assert store.reviews.ruleset(str(proposal)).play == PLAY
    store.reviews.approve(str(proposal), author="Bo") if not store.session.database.is_server else None


OLDER = """
title = "An older game"
board = "2x2"
style = "C"
host = ["royal-safety", "history"]
[pieces.K]
betza = "K"
terminal = true
"""


def test_a_definition_says_it_also_of_a_revision_from_before(store: Store, tmp_path: Path) -> None:
    (tmp_path / "older.toml").write_text(OLDER, encoding="utf-8")
    store.load(tmp_path / "older.toml", "new")
    document = store.ruleset("new").document()
    envelope = replace(document.envelope, play=None)
    before = replace(document, envelope=envelope, made_from=envelope.definition)
    store.load(before, "old")
    assert store.ruleset("old").revision.envelope.play is None
    assert store.ruleset("old").play == store.ruleset("new").play == Play((Duty("royal-safety"),), host=("history",))


def test_a_check_finds_play_that_was_never_written(store: Store) -> None:
    store.load(played(), "game")
    forged = "UPDATE revision SET envelope = replace(envelope, 'no-drop-mate', 'no-drop-meat')"
    with store.session.writing() as connection:
        drop_guards(connection)
        connection.execute(text(forged))
    assert any('found "no-drop-meat"' in problem for problem in store.upkeep.check())


def test_show_says_how_a_game_is_played(ggn: Command) -> None:
    write("game.json", json.dumps(played().data()))
    write(
        "game.toml",
        '[play]\nduties = ["pass"]\nhost = ["history"]\n[[play.outcome]]\nwhen = "bare"\nverdict = "loss"\n',
    )
    assert ggn("load", "game.json").code == 0
    shown = ggn("show", "game").out
    for said in (
        "\npass          a player may pass\n",
        "\nbare        loss",
        "\nhistory              a move may depend on",
    ):
        assert said in shown
    data = json.loads(ggn("show", "game", "--format", "json").out)
    assert data["play"] == {"duties": ["pass"], "outcome": [{"when": "bare", "verdict": "loss"}], "host": ["history"]}
