"""How a game is played, as a value: its canonical text, what is refused, and what definitions say and derive."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any, get_args

import pytest

from ggn_store.documents.ggn import parse as parse_document
from ggn_store.errors import NotationError
from ggn_store.games import definition, library, playing
from ggn_store.model.changes.diff import diff
from ggn_store.model.changes.merge import merge
from ggn_store.model.documents.document import Document
from ggn_store.model.moves import play_text
from ggn_store.model.moves.play import OUTCOMES, Crossing, Duty, Outcome, Play, When
from ggn_store.render.diff import diff_text
from tests.support.definitions import shipped_game
from tests.support.plays import HOSTILE
from tests.support.views import PLAY, played

TEXT = (
    '{"duties":[{"name":"no-drop-mate","pieces":["D:M","d:m"]},"pass"],"reverts":{"D:+M":"D:M"},'
    '"crossing":[{"piece":"D:M","source":"Alaska","destination":"x","through":["x","Alaska"]}],'
    '"outcome":[{"when":"no-move","verdict":"draw","in_check":false},'
    '{"when":"goal","verdict":"win","side":"first","pieces":["D:M"],"squares":["Alaska","x"],"count":2,"safe":true,'
    '"answered":true},{"when":"extinct","verdict":"majority","count":0,"other":2},'
    '{"when":"repetition","verdict":"draw","count":4,"perpetual":true},'
    '{"when":"connection","verdict":"win","edges":["Alaska","x Alaska"],"ways":["0 1","1 -1"]}],'
    '"host":["history","side-effects"]}'
)


def test_the_text_is_canonical_and_read_back() -> None:
    assert play_text.text(PLAY) == TEXT
    assert play_text.parse(TEXT) == PLAY
    assert (play_text.text(Play()), play_text.parse(None)) == (None, Play())
    goal = Outcome("goal", "win", "first", ("D:M",), ("x", "Alaska"), 2, safe=True, answered=True)
    mixed = Play(
        (Duty("pass"), Duty("no-drop-mate", ("d:m", "D:M"))),
        PLAY.reverts,
        PLAY.crossing,
        (PLAY.outcomes[0], goal, *PLAY.outcomes[2:]),
        ("side-effects", "history"),
    )
    assert play_text.text(mixed) == TEXT


def test_every_kind_of_outcome_is_explained_and_says_only_what_there_is() -> None:
    names = {field.name for field in fields(Outcome)}
    assert set(OUTCOMES) == set(get_args(When))
    for kind in OUTCOMES.values():
        assert kind.meaning
        assert names > {*kind.must, *kind.may}


@pytest.mark.parametrize(("data", "said"), HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_not_as_it_must_be_is_refused_with_its_place(data: Any, said: str) -> None:
    text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"))
    with pytest.raises(NotationError) as caught:
        play_text.parse(text)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 1_000


def test_play_is_in_the_digest_where_there_is_any() -> None:
    plain, same = parse_document(json.dumps(played().data())), played()
    assert plain.envelope.play is None
    assert plain.digest != same.digest
    assert "play" not in plain.envelope.data()


# --- definitions ---

GAME = """
title = "A game"
board = "5x5"
style = "C"
start = "+r1+k^2/ppppp/5/PPPPP/+R1+K^2 / C/c"
host = ["history"]

[play]
duties = ["royal-safety", "clear-marks", "no-leap-from-check"]

[[play.outcome]]
when = "goal"
pieces = ["K"]
squares = ["c5", "a1:b1"]
verdict = "win"

[[play.outcome]]
when = "quiet"
count = 20
pieces = ["P"]
verdict = "loss"
side = "second"

[pieces.K]
betza = "KimA"
terminal = true
castling = { from = "c1", to = "e1", with = "a1", with_to = "d1" }

[pieces.R]
betza = "R"

[pieces.P]
betza = "mfWimfnDcefF"
initial = "a2:e2"
en_passant = true
"""


def test_a_definition_says_play_of_both_sides_and_derives_the_rest() -> None:
    assert playing.derive(definition.read(GAME)) == Play(
        (Duty("clear-marks"), Duty("no-leap-from-check", ("C:+K^", "c:+k^")), Duty("royal-safety")),
        {"C:-P": "C:P", "c:-p": "c:p"},
        (
            Crossing("C:+K^", "c1", "e1", ("c1", "d1", "e1")),
            Crossing("c:+k^", "c5", "e5", ("c5", "d5", "e5")),
        ),
        (
            Outcome("goal", "win", "first", ("C:+K^", "C:K^"), ("a1", "b1", "c5")),
            Outcome("goal", "win", "second", ("c:+k^", "c:k^"), ("a5", "b5", "c1")),
            Outcome("quiet", "loss", "second", ("C:-P", "C:P", "c:-p", "c:p"), count=20),
        ),
        ("history",),
    )


def test_the_older_key_host_says_duties_and_what_is_left() -> None:
    head, rest = GAME.split("[play]")
    _, pieces = rest.split("[pieces.K]")
    text = head.replace('["history"]', '["history", "royal-safety", "clear-marks"]') + "[pieces.K]" + pieces
    found = playing.derive(definition.read(text))
    assert ([duty.name for duty in found.duties], found.host) == (["clear-marks", "royal-safety"], ("history",))
    assert (found.reverts, len(found.crossing), found.outcomes) == ({"C:-P": "C:P", "c:-p": "c:p"}, 2, ())


WRONG = [
    ('"no-leap-from-check"]', '"flee"]', "play.duties[2]", "it is one of a few words"),
    ('"no-leap-from-check"]', '"no-leep-from-check"]', "play.duties[2]", "words: did you mean no-leap-from-check?"),
    ('"clear-marks"', '{ name = "clear-marks", pieces = ["P"] }', "play.duties[1].pieces", "is about no pieces"),
    ('"clear-marks"', '"capture-with"', "play.duties[1]", "capture-with says in pieces what it is about"),
    ('side = "second"', 'sid = "second"', "play.outcome[1].sid", "an outcome has no such key: did you mean side?"),
    ('when = "goal"', 'when = "lost"', "play.outcome[0].when", "it is one of a few words"),
    ('["c5", "a1:b1"]', '["z9"]', "play.outcome[0].squares[0]", "not on the board"),
    ('pieces = ["K"]', 'pieces = ["Q"]', "play.outcome[0].pieces", "no side has such a piece"),
    ('side = "second"', 'side = "white"', "play.outcome[1].side", "it is one of a few words"),
    ("count = 20", "count = 0", "play.outcome[1].count", "count says how many"),
    ("[play]", "[play]\nreverts = {}", "play.reverts", "play has no such key"),
    ('host = ["history"]', 'host = ["history", "luck"]', "host[1]", "GGN leaves no such duty to the host"),
]


@pytest.mark.parametrize(("before", "after", "place", "said"), WRONG)
def test_a_slip_in_a_definition_is_told_with_its_key(before: str, after: str, place: str, said: str) -> None:
    assert GAME.count(before) == 1
    with pytest.raises(definition.DefinitionError) as caught:
        definition.read(GAME.replace(before, after))
    assert [(each.pointer, said in each.message) for each in caught.value.problems] == [(place, True)]


def test_all_games_of_the_library_say_how_they_end_and_name_each_thing_once() -> None:
    for name in library.names():
        found = playing.derive(shipped_game(name))
        assert found.outcomes, name
        assert play_text.parse(play_text.text(found)) == found, name
        assert not {duty.name for duty in found.duties} & set(found.host), name


# --- differences and merges ---


def changed(**values: Any) -> Document:
    document = played()
    return replace(document, envelope=replace(document.envelope, play=play_text.text(replace(PLAY, **values))))


def test_a_difference_names_each_thing_that_is_declared_otherwise() -> None:
    other = changed(duties=(Duty("pass"), Duty("royal-safety")), reverts={}, host=("history",))
    assert list(diff_text(diff(played(), other))) == [
        '- play duties: {"name": "no-drop-mate", "pieces": ["D:M", "d:m"]}\n',
        "- play reverts: D:+M -> D:M\n",
        "- play host: side-effects\n",
        "+ play duties: royal-safety\n",
    ]
    turned = changed(outcomes=PLAY.outcomes[::-1])
    assert list(diff_text(diff(played(), turned))) == ["~ play outcome: in another order\n"]


def test_a_merge_takes_what_one_side_declares_and_says_where_both_differ() -> None:
    base, ours, theirs = played(), changed(host=()), changed(duties=())
    assert merge(base, ours, base).document == ours
    assert merge(base, base, theirs).document == theirs
    assert merge(base, ours, ours).document == ours
    merged = merge(base, ours, theirs)
    assert merged.document is None
    [conflict] = merged.conflicts
    assert (conflict.path, conflict.ours) == (("play",), ours.envelope.play)


def test_an_outcome_about_pieces_of_one_side_is_none_of_the_other() -> None:
    text = """
title = "T"
board = "3x3"
style = "C"
[first.D]
betza = "F"
[pieces.P]
betza = "fW"
[play]
outcome = [
  { when = "goal", verdict = "win", pieces = ["D"], squares = "a3:c3" },
  { when = "extinct", verdict = "loss", pieces = ["D"], side = "second" },
]
"""
    found = playing.derive(definition.read(text)).outcomes
    assert found == (Outcome("goal", "win", "first", pieces=("C:D",), squares=("a3", "b3", "c3")),)
