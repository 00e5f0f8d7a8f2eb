"""What a user's first script looks like: README's Python and more, which mypy --strict reads with the other tests.

It has neither casts nor `type: ignore`; `test_face` sees to that, and runs it.
"""

from __future__ import annotations

from pathlib import Path

from ggn_store import Position, PositionError, Store, ruleset

DATA = {"C:P": {"e2": {"e4": [{"must": {"e4": "empty"}, "diff": {"board": {"e2": None, "e4": "C:P"}}}]}}}


def main(directory: Path) -> None:
    """Load a game, ask for moves, make one, and look at the store."""
    with Store.open(directory / "ggn.db") as store:
        store.load_library("chess")
        chess = store.ruleset("chess")

        for move in chess.moves(chess.start, source="e2"):
            print(move, move.effects)
        assert str(move) == "C:P e2 e4 C:-P"
        assert [str(each) for each in store.list()] == ["chess@1"]
        assert len(repr(store.list())) < 1_000
        after = chess.apply(chess.start, move)
        assert chess.fen(after) == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
        assert len(chess.moves(after)) == 20

        changed: dict[str, str | None] = dict(move.effects.board)
        assert changed["e4"] == "C:-P"
        first: Position = chess.start
        print(first)
        assert store.tags.set("chess", "stable", author="Ann").revision == 1
        assert [entry.revision.number for entry in store.history.log("chess")] == [1]
        assert chess.pictures.draw(piece="C:N").startswith("<svg")

    rules = ruleset(DATA)
    assert not rules.has_start
    try:
        print(rules.start)
    except PositionError as error:
        print(error)
    [only] = rules.moves({"e2": "C:P"})
    assert only.effects.toggle
