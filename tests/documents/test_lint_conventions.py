"""Lint against the conventions of chess, shogi and xiangqi: what a game that looks like one of them lacks or adds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

import pytest

from ggn_store.documents import conventions
from ggn_store.documents.ggn import parse
from ggn_store.model.documents.document import Envelope
from ggn_store.notation.json_text import Path
from tests.support.findings import Json, found, places

Steps = Iterable[tuple[int, int]]

STRAIGHT = ((0, 1), (1, 0), (0, -1), (-1, 0))
DIAGONAL = ((1, 1), (1, -1), (-1, -1), (-1, 1))
GOLD = ((-1, 1), (0, 1), (1, 1), (-1, 0), (1, 0), (0, -1))
HORSE = tuple((x, y) for x in (-2, -1, 1, 2) for y in (-2, -1, 1, 2) if abs(x) != abs(y))


class Maker:
    """Rules of pieces on a board that is counted from their side, so that both sides are made alike."""

    def __init__(self, style: str, shape: tuple[int, int], first: bool = True) -> None:
        self.style, self.first = style, first
        self.files, self.ranks = shape
        self.rules: Json = {}

    def name(self, piece: str) -> str:
        text = f"{self.style}:{piece}"
        return text.upper() if self.first else text.lower()

    def square(self, file: int, rank: int) -> str:
        return f"{'abcdefghi'[file]}{rank + 1 if self.first else self.ranks - rank}"

    def squares(self) -> Iterator[tuple[int, int]]:
        return itertools.product(range(self.files), range(self.ranks))

    def on_board(self, file: int, rank: int) -> bool:
        return 0 <= file < self.files and 0 <= rank < self.ranks

    def add(self, piece: str, source: str, destination: str, possibility: Json) -> None:
        sources = self.rules.setdefault(self.name(piece), {})
        sources.setdefault(source, {}).setdefault(destination, []).append(possibility)

    def leap(
        self, piece: str, steps: Steps, within: Iterable[tuple[int, int]] | None = None, leg: bool = False
    ) -> None:
        """Moves by steps from and to the given points; with `leg`, over an empty first square."""
        points = set(self.squares() if within is None else within)
        for (file, rank), (x, y) in itertools.product(sorted(points), steps):
            if (file + x, rank + y) in points:
                target = self.square(file + x, rank + y)
                blocked = {self.square(file + int(x / 2), rank + int(y / 2)): "empty"} if leg else {}
                self.add(piece, self.square(file, rank), target, {"must": {**blocked, target: "empty"}})

    def drop(self, piece: str, ranks: Iterable[int], files: Iterable[int] = (4,), deny: bool = False) -> None:
        """Drops on the points of some ranks; with `deny`, on files without another of the piece."""
        for file, rank in itertools.product(files, ranks):
            others = {self.square(file, r): self.name(piece) for r in range(self.ranks - 1) if r != rank}
            possibility = {"must": {self.square(file, rank): "empty"}, "deny": others if deny else {}}
            self.add(piece, "*", self.square(file, rank), possibility)

    def remarks(self, *more: Maker) -> list[tuple[str, str]]:
        data = self.rules | {name: rules for each in more for name, rules in each.rules.items()}
        return found(data, "convention", board=f"{self.files}x{self.ranks}")


BOTH_SIDES = pytest.mark.parametrize("first", [True, False], ids=["first", "second"])


def chess(first: bool = True, style: str = "C", without: str = "", pawn: str = "P", king: str = "+K") -> Maker:
    """Pawns and king of chess as must-deny documents write them, without one of their abilities."""
    made = Maker(style, (8, 8), first)
    made.leap(king, (*STRAIGHT, *DIAGONAL))
    if without != "castling":
        made.add(king, made.square(4, 0), made.square(6, 0), {"must": {made.square(7, 0): made.name("+R")}})
    made.leap(pawn, [(0, 1)], [(file, rank) for file in range(8) for rank in range(1, 8)])
    for file in range(8):
        if without != f"double step {file}" and without != "double step":
            made.add(pawn, made.square(file, 1), made.square(file, 3), {"must": {made.square(file, 2): "empty"}})
        for beside in {file - 1, file + 1} & set(range(8)):
            for rank in range(1, 7):
                target = made.square(beside, rank + 1)
                made.add(pawn, made.square(file, rank), target, {"must": {target: "enemy"}})
                if rank == 4 and without not in (f"en passant {file}", "en passant"):
                    mark = made.name("-P").swapcase()
                    possibility = {"must": {target: "empty", made.square(beside, rank): mark}}
                    made.add(pawn, made.square(file, rank), target, possibility)
    return made


@BOTH_SIDES
@pytest.mark.parametrize(("style", "pawn", "king"), [("C", "P", "+K"), ("CHESS", "+P", "K"), ("C", "P", "-K^")])
def test_chess_with_all_its_abilities_is_as_usual(first: bool, style: str, pawn: str, king: str) -> None:
    assert chess(first, style, "", pawn, king).remarks(chess(not first, style)) == []


@BOTH_SIDES
@pytest.mark.parametrize(
    ("without", "piece", "fact"),
    [
        ("double step", "P", "a pawn's first move may be two squares, and {} has none from {} and 4 more"),
        ("double step 4", "P", "a pawn's first move may be two squares, and {} has none from {}"),
        ("castling", "+K", "a king may castle, and {} never goes two files along a rank"),
        ("en passant", "P", "a pawn may capture en passant, and {} regards no piece beside it from {} and 10 more"),
        ("en passant 0", "P", "a pawn may capture en passant, and {} regards no piece beside it from {}"),
    ],
)
def test_what_chess_lacks_is_found_at_the_piece(first: bool, without: str, piece: str, fact: str) -> None:
    made = chess(first, without=without)
    squares = {
        "double step": ", ".join(made.square(file, 1) for file in range(4)),
        "double step 4": made.square(4, 1),
        "en passant 0": f"{made.square(0, 4)} to {made.square(1, 5)}",
        "en passant": ", ".join(
            f"{made.square(file, 4)} to {made.square(target, 5)}" for file, target in ((0, 1), (1, 0), (1, 2), (2, 1))
        ),
    }
    name = made.name(piece)
    expected = "if this is meant to be chess: " + fact.format(name, squares.get(without))
    assert made.remarks(chess(not first)) == [(f"/{name}", expected)]


def test_castling_written_as_the_kings_way_to_its_rook_is_castling() -> None:
    made = chess(without="castling")
    made.add("+K", "e1", "e3", {})
    assert len(made.remarks()) == 1
    made.add("+K", "e1", "h1", {"must": {"h1": "C:+R"}})
    assert made.remarks() == []


@BOTH_SIDES
def test_what_a_piece_of_two_states_lacks_is_found_once_at_the_first(first: bool) -> None:
    made = Maker("C", (8, 8), first)
    for piece in ("P", "-P"):
        made.leap(piece, [(0, 1), (-1, 1), (1, 1)], [(file, rank) for file in range(8) for rank in range(1, 8)])
    for piece in ("+K", "K"):
        made.leap(piece, STRAIGHT)
    expected = [("P", "-P"), ("P", "-P"), ("+K", "K")]
    for (pointer, message), (one, other) in zip(made.remarks(), expected, strict=True):
        assert pointer == f"/{made.name(one)}"
        assert f"{made.name(one)} or {made.name(other)}" in message


def test_abilities_of_one_state_are_those_of_the_piece() -> None:
    made = chess(without="double step")
    for file in "abcdefgh":
        made.add("-P", f"{file}2", f"{file}4", {})
    assert made.remarks() == []


@BOTH_SIDES
def test_en_passant_shows_in_an_effect_as_well(first: bool) -> None:
    made = chess(first, without="en passant 0")
    for sources in made.rules.values():
        for source, destinations in sources.items():
            for destination, possibilities in destinations.items():
                for possibility in possibilities:
                    possibility["diff"] = {"board": {source: None, destination: made.name("Q")}}
    assert len(made.remarks()) == 1
    beside, target = made.square(1, 4), made.square(1, 5)
    made.rules[made.name("P")][made.square(0, 4)][target][0]["diff"]["board"][beside] = made.name("P")
    assert len(made.remarks()) == 1
    made.rules[made.name("P")][made.square(0, 4)][target][0]["diff"]["board"][beside] = None
    assert made.remarks() == []


@BOTH_SIDES
def test_a_pawn_whose_effects_leave_it_a_pawn_on_the_last_rank_is_found(first: bool) -> None:
    made = chess(first)
    pawn, queen = made.name("P"), made.name("Q")
    for piece, sources in made.rules.items():
        for source, destinations in sources.items():
            for destination, possibilities in destinations.items():
                last = piece == pawn and destination[1] == made.square(0, 7)[1]
                for possibility in possibilities:
                    possibility["diff"] = {"board": {source: None, destination: queen if last else piece}}
    assert made.remarks() == []
    possibility = made.rules[pawn][made.square(2, 6)][made.square(2, 7)][0]
    possibility["diff"]["board"][made.square(2, 7)] = pawn
    source, destination = made.square(2, 6), made.square(2, 7)
    assert made.remarks() == [
        (
            f"/{pawn}/{source}/{destination}",
            "if this is meant to be chess: a pawn promotes on the last rank, "
            f"and {pawn} may go from {source} to {destination}",
        )
    ]


@pytest.mark.parametrize(
    ("style", "shape", "pieces"),
    [("D", (8, 8), "PK"), ("C", (8, 9), "PK"), ("C", (9, 8), "PK"), ("C", (8, 8), "PQ"), ("C", (8, 8), "QK")],
)
def test_a_game_of_other_style_board_or_pieces_is_not_held_to_chess(
    style: str, shape: tuple[int, int], pieces: str
) -> None:
    def made(style: str, shape: tuple[int, int], pieces: str) -> Maker:
        result = Maker(style, shape)
        for piece in pieces:
            result.leap(piece, [(0, 1)])
        return result

    assert made(style, shape, pieces).remarks() == []
    assert len(made("C", (8, 8), "PK").remarks()) == 2


def test_a_board_that_does_not_begin_at_a1_is_no_board_of_chess() -> None:
    def on_files(files: str) -> Json:
        pawns: Json = {f"{file}2": {f"{file}3": [{}]} for file in files}
        return {"C:K": {f"{files[0]}1": {f"{files[7]}8": [{}]}}, "C:P": pawns}

    assert parse(on_files("bcdefghi")).board.shape == (8, 8)
    assert places(on_files("bcdefghi"), "convention") == []
    assert places(on_files("abcdefgh"), "convention") == ["/C:K", "/C:P"]


def shogi(first: bool = True) -> Maker:
    """Gold, promoted and unpromoted lance and knight, pawn drops: as is usual."""
    made = Maker("S", (9, 9), first)
    made.leap("G", GOLD)
    for piece in "PLNS":
        made.leap(f"+{piece}", GOLD)
    made.leap("P", [(0, 1)])
    made.leap("L", [(0, y) for y in range(1, 9)])
    made.leap("N", [(-1, 2), (1, 2)])
    made.drop("G", range(9))
    made.add("G", made.square(4, 4), "*", {})
    made.drop("L", range(8))
    made.drop("N", range(7))
    made.drop("P", range(8), deny=True)
    return made


@BOTH_SIDES
def test_usual_shogi_is_not_remarked_on(first: bool) -> None:
    assert shogi(first).remarks(shogi(not first)) == []


@BOTH_SIDES
@pytest.mark.parametrize(
    ("piece", "steps", "fact"),
    [
        ("L", [(0, 2)], "from {4,4} can also go to {4,6}, and so keeps the moves of {L}"),
        ("L", [(0, 2), (1, 2)], "from {4,4} can also go to {4,6}, {5,6}"),
        ("N", [(-1, 2), (1, 2)], "from {4,4} can also go to {3,6}, {5,6}, and so keeps the moves of {N}"),
        ("S", [(1, -1)], "from {4,4} can also go to {5,3}"),
        ("S", [(0, y) for y in (-4, -3, -2, 4)], "from {4,4} can also go to {4,0}, {4,1}, {4,2}, {4,8}"),
        ("S", [(0, y) for y in (-4, -3, -2, 3, 4)], "from {4,4} can also go to {4,0}, {4,1}, {4,2}, {4,7} and 1 more"),
    ],
)
def test_a_promoted_piece_that_goes_farther_than_the_gold_is_found(
    first: bool, piece: str, steps: Steps, fact: str
) -> None:
    made = shogi(first)
    made.leap(f"+{piece}", steps)
    for file, rank in made.squares():
        fact = fact.replace(f"{{{file},{rank}}}", made.square(file, rank))
    for letter in "LN":
        fact = fact.replace(f"{{{letter}}}", made.name(letter))
    name = made.name(f"+{piece}")
    assert made.remarks(shogi(not first)) == [
        (f"/{name}", f"if this is meant to be shogi: {name} moves as {made.name('G')} does, and here {fact}")
    ]


@BOTH_SIDES
def test_a_promoted_piece_that_lacks_a_single_move_of_the_gold_is_found(first: bool) -> None:
    made = shogi(first)
    made.leap("G'", STRAIGHT)
    pawn, gold, source, target = made.name("+P"), made.name("G"), made.square(1, 7), made.square(1, 8)
    del made.rules[pawn][source][target]
    assert made.remarks() == [
        (
            f"/{pawn}",
            f"if this is meant to be shogi: {pawn} moves as {gold} does, and here from {source} cannot go to {target}",
        )
    ]
    del made.rules[gold], made.rules[made.name("G'")]
    assert made.remarks() == []


@BOTH_SIDES
def test_a_promoted_piece_that_lacks_a_source_of_the_gold_is_found(first: bool) -> None:
    made = shogi(first)
    source = made.square(0, 0)
    del made.rules[made.name("+P")][source]
    ((pointer, message),) = made.remarks()
    assert pointer == f"/{made.name('+P')}"
    targets = ", ".join(made.square(file, rank) for file, rank in ((0, 1), (1, 0), (1, 1)))
    assert message.endswith(f"and here from {source} cannot go to {targets}")


@BOTH_SIDES
@pytest.mark.parametrize(
    ("piece", "ranks", "deny", "usual"),
    [
        ("K", [4, 5], False, "a king is never in a hand"),
        ("-K^", [4, 5], False, "a king is never in a hand"),
        ("+R", [4, 5], False, "a piece in a hand is not promoted"),
        ("P", [4, 5], False, "a file holds one pawn of a side"),
        ("L", [8, 8], False, "a piece is never where it could not move again"),
        ("N", [7, 8], False, "a piece is never where it could not move again"),
        ("G", [8], False, None),
        ("R", [8], False, None),
        ("L", [7], False, None),
        ("N", [6], False, None),
        ("P", [7], True, None),
    ],
)
def test_drops_that_shogi_does_not_know_are_found_once_a_piece(
    first: bool, piece: str, ranks: list[int], deny: bool, usual: str | None
) -> None:
    made = Maker("SHOGI", (9, 9), first)
    made.drop(piece, ranks, deny=deny)
    name, square = made.name(piece), made.square(4, ranks[0])
    more = ", one of 2 such moves" if len(set(ranks)) == 2 else ""
    expected = f"if this is meant to be shogi: {usual}, and {name} may go from the hand to {square}{more}"
    assert made.remarks() == ([(f"/{name}/*/{square}", expected)] if usual else [])


@BOTH_SIDES
@pytest.mark.parametrize(
    ("key", "state", "usual"), [("deny", "P", True), ("must", "L", True), ("must", "P", False), ("deny", "L", False)]
)
def test_a_pawn_drop_regards_every_square_of_its_file_where_a_pawn_can_be(
    first: bool, key: str, state: str, usual: bool
) -> None:
    made = shogi(first)
    possibility = made.rules[made.name("P")]["*"][made.square(4, 3)][0]
    del possibility["deny"][made.square(4, 7)]
    assert [pointer for pointer, _ in made.remarks()] == [f"/{made.name('P')}/*/{made.square(4, 3)}"]
    possibility[key][made.square(4, 7)] = made.name(state)
    assert (made.remarks() == []) == usual


@BOTH_SIDES
@pytest.mark.parametrize("promotes", [True, False])
def test_a_knight_that_stays_itself_on_the_last_ranks_is_found_where_effects_say_so(
    first: bool, promotes: bool
) -> None:
    made = Maker("S", (9, 9), first)
    source, target, name = made.square(4, 5), made.square(5, 7), made.name("N")
    becomes = made.name("+N") if promotes else name
    made.add("N", source, target, {"diff": {"board": {source: None, target: becomes}}})
    assert [pointer for pointer, _ in made.remarks()] == ([] if promotes else [f"/{name}/{source}/{target}"])


PALACE = [(file, rank) for file in (3, 4, 5) for rank in (0, 1, 2)]


def xiangqi(first: bool = True, ranks: int = 10) -> Maker:
    """General, advisor, elephant, horse and soldier: as is usual."""
    made = Maker("X", (9, ranks), first)
    home = [(file, rank) for file in range(9) for rank in range((ranks + 1) // 2)]
    made.leap("G", STRAIGHT, PALACE)
    made.leap("A", DIAGONAL, PALACE)
    made.leap("E", [(2 * x, 2 * y) for x, y in DIAGONAL], home, leg=True)
    made.leap("H", HORSE, leg=True)
    made.leap("S", [(0, 1)])
    made.leap("S", [(-1, 0), (1, 0)], [(file, rank) for file in range(9) for rank in range(ranks // 2, ranks)])
    return made


@BOTH_SIDES
@pytest.mark.parametrize("ranks", [9, 10])
def test_usual_xiangqi_is_not_remarked_on(first: bool, ranks: int) -> None:
    assert xiangqi(first, ranks).remarks(xiangqi(not first, ranks)) == []


@BOTH_SIDES
@pytest.mark.parametrize(
    ("piece", "source", "destination", "usual"),
    [
        ("G", (4, 2), (4, 3), "a general stays in its palace"),
        ("-K", (3, 1), (2, 1), "a general stays in its palace"),
        ("G", (5, 0), (6, 0), "a general stays in its palace"),
        ("A", (5, 2), (6, 3), "an advisor stays in its palace"),
        ("E", (2, 4), (2, 5), "an elephant stays on its side of the river"),
        ("B", (2, 4), (2, 5), "an elephant stays on its side of the river"),
        ("S", (2, 4), (3, 4), "a soldier goes sideways only after crossing the river"),
        ("P", (2, 4), (1, 4), "a soldier goes sideways only after crossing the river"),
    ],
)
def test_a_step_over_palace_or_river_is_found_at_the_move(
    first: bool, piece: str, source: tuple[int, int], destination: tuple[int, int], usual: str
) -> None:
    made = xiangqi(first)
    start, end, name = made.square(*source), made.square(*destination), made.name(piece)
    made.add(piece, start, end, {})
    assert made.remarks(xiangqi(not first)) == [
        (f"/{name}/{start}/{end}", f"if this is meant to be xiangqi: {usual}, and {name} may go from {start} to {end}")
    ]


@BOTH_SIDES
def test_on_nine_ranks_the_middle_one_is_the_river(first: bool) -> None:
    made = xiangqi(first, 9)
    made.add("E", made.square(2, 3), made.square(4, 5), {"must": {made.square(3, 4): "empty"}})
    made.add("S", made.square(2, 3), made.square(3, 3), {})
    assert [pointer for pointer, _ in made.remarks()] == [
        f"/{made.name('E')}/{made.square(2, 3)}/{made.square(4, 5)}",
        f"/{made.name('S')}/{made.square(2, 3)}/{made.square(3, 3)}",
    ]


@BOTH_SIDES
def test_generals_may_face_each_other_in_the_form_of_a_capture(first: bool) -> None:
    made = xiangqi(first)
    end = made.square(4, 9)
    made.add("G", made.square(4, 0), end, {"must": {end: made.name("G").swapcase()}})
    assert made.remarks(xiangqi(not first)) == []
    made.add("G", made.square(4, 0), end, {"must": {end: made.name("C").swapcase()}})
    assert [pointer for pointer, _ in made.remarks(xiangqi(not first))] == [
        f"/{made.name('G')}/{made.square(4, 0)}/{end}"
    ]


@BOTH_SIDES
@pytest.mark.parametrize(
    ("piece", "source", "destination", "leg", "usual"),
    [
        ("H", (4, 4), (5, 6), (4, 5), "a horse is blocked by what stands next to it on its way"),
        ("N", (4, 4), (2, 3), (3, 4), "a horse is blocked by what stands next to it on its way"),
        ("E", (4, 2), (6, 4), (5, 3), "an elephant is blocked by what it would pass over"),
        ("B", (4, 2), (2, 0), (3, 1), "an elephant is blocked by what it would pass over"),
    ],
)
def test_a_horse_or_elephant_that_nothing_blocks_is_found(
    first: bool, piece: str, source: tuple[int, int], destination: tuple[int, int], leg: tuple[int, int], usual: str
) -> None:
    def remarks(**conditions: Json) -> list[tuple[str, str]]:
        made = Maker("XIANGQI", (9, 10), first)
        made.add(piece, start, end, {"must": {end: "enemy"}} | conditions)
        return made.remarks()

    of_side = Maker("XIANGQI", (9, 10), first)
    start, end, name = of_side.square(*source), of_side.square(*destination), of_side.name(piece)
    assert remarks() == [
        (f"/{name}/{start}/{end}", f"if this is meant to be xiangqi: {usual}, and {name} may go from {start} to {end}")
    ]
    assert remarks(must={of_side.square(*leg): "empty"}) == []
    assert remarks(deny={of_side.square(*leg): "enemy"}) == []
    assert len(remarks(must={of_side.square(leg[0] + 1, leg[1] + 1): "empty"} if leg[0] < 5 else {end: "empty"})) == 1


@BOTH_SIDES
def test_every_piece_of_xiangqi_that_can_be_dropped_is_found(first: bool) -> None:
    made = xiangqi(first)
    made.drop("C", range(10))
    for piece in "GAEHS":
        made.drop(piece, [9])
    assert made.remarks() == [
        (
            f"/{made.name(piece)}/*/{made.square(4, rank)}",
            f"if this is meant to be xiangqi: there are no drops, and {made.name(piece)} may go from the hand "
            f"to {made.square(4, rank)}{more}",
        )
        for piece, rank, more in (*((piece, 9, "") for piece in "GAEHS"), ("C", 0, ", one of 10 such moves"))
    ]


@BOTH_SIDES
@pytest.mark.parametrize(
    ("style", "shape", "letters"), [("C", (8, 8), "PK"), ("S", (9, 9), "PLNSGK"), ("X", (9, 10), "GKAEBHNSP")]
)
def test_moves_to_the_hand_are_moves_of_no_convention(
    first: bool, style: str, shape: tuple[int, int], letters: str
) -> None:
    made = chess(first) if style == "C" else Maker(style, shape, first)
    for letter in letters:
        made.add(letter, made.square(4, 4), "*", {})
    assert made.remarks() == []


@BOTH_SIDES
def test_drops_in_a_game_like_chess_are_no_abilities_of_its_pieces(first: bool) -> None:
    made = chess(first, without="castling")
    for piece in ("P", "+K"):
        for rank in (2, 3, 5):
            made.drop(piece, [rank])
    assert [pointer for pointer, _ in made.remarks()] == [f"/{made.name('+K')}"]


def test_each_style_of_a_mixed_document_is_held_to_its_own_game() -> None:
    made = Maker("S", (9, 9))
    made.drop("K", [4])
    other = Maker("X", (9, 9), first=False)
    other.drop("G", [4])
    neither = Maker("C", (9, 9), first=False)
    neither.drop("K", [4])
    assert [pointer for pointer, _ in made.remarks(other, neither)] == ["/S:K/*/e5", "/x:g/*/e5"]


def chess_of_both(title: str | None = None, start: str | None = None, letter: str = "Q") -> list[Path]:
    """The conventions that chess without castling is remarked on for."""
    first, second = chess(without="castling"), chess(False, without="castling")
    first.leap(letter, STRAIGHT)
    document = parse(first.rules | second.rules, envelope=Envelope(title=title, start=start, board="8x8"))
    return [found.path for found in conventions.findings(document)]


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR / C/c"


@pytest.mark.parametrize(
    ("title", "start", "letter", "count"),
    [
        ("Chess", None, "Q", 2),
        ("Standard chess", None, "Q", 2),
        ("Chess (FIDE rules)", None, "Q", 2),
        ("Chess", START, "A", 2),
        ("Chess", START.replace("PPPPPPPP", "PPP2PPP"), "Q", 2),
        ("No-castling chess", None, "Q", 0),
        ("Chaturanga", START, "Q", 0),
        ("Chinese chess", START, "Q", 0),
        (None, START, "Q", 2),
        (None, START.upper().replace("/ C/C", "/ C/c").replace("RNBQKBNR", "rnbqkbnr", 1), "Q", 0),
        (None, START.replace("PPPPPPPP", "PPPQQPPP"), "Q", 1),
        (None, None, "A", 1),
    ],
)
def test_only_what_is_meant_to_be_chess_is_compared_with_it(
    title: str | None, start: str | None, letter: str, count: int
) -> None:
    assert len(chess_of_both(title, start, letter)) == count


@pytest.mark.parametrize(
    ("made", "title", "start"),
    [
        (shogi, "Japanese chess", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL / S/s"),
        (xiangqi, "Xiangqi", "rheagaehr/9/1c5c1/s1s1s1s1s/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR / X/x"),
    ],
)
def test_shogi_and_xiangqi_are_known_by_title_or_start(made: Callable[[], Maker], title: str, start: str) -> None:
    game = made()
    game.drop("K", [4])
    for said, begin, count in ((title, None, 1), (None, start, 1), ("Mini " + title, start, 0), (None, "other", 0)):
        begin = start.replace("N", "R", 1) if begin == "other" else begin
        envelope = Envelope(title=said, start=begin, board=f"{game.files}x{game.ranks}")
        assert len([*conventions.findings(parse(game.rules, envelope=envelope))]) == count
