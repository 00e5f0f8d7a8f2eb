"""Random definitions on tiny boards, and positions of them: what the language allows, whether or not it makes a game.

Nothing here uses ggn_store.
"""

import random
import re
from collections.abc import Iterator
from typing import Any

import tomlkit

from tests.oracles.betza import Board, label
from tests.oracles.definitions import SIDES, Definition, Man

Json = dict[str, Any]
TOKENS = ("A", "B", "C", "+A", "B'", "+B'")
# A definition has a few of these.
FEATURES = (
    *("also", "confined", "excepted", "initial", "unmoved", "castling", "en_passant", "promotion", "alone", "walls"),
    *("blast", "turns", "gating", "drops", "near", "encloses", "sides", "styles", "terminal", "zones"),
)
# Every choice of what is around a square can be a possibility: these are for smaller boards.
AROUND = {"turns", "near", "encloses", "blast"}

# Directions of oblique leaps, diagonal ones, straight ones, and of what is both; of legs behind others.
OBLIQUE = "f b l r v s ff fs bs fh bh lh rh hr hl fr fl rf lf br rb lb lv rv frbl ffbb vv ss"
DIAGONAL = "f b l r fl fr bl br flbr frbl fb lr"
STRAIGHT = "f b l r v s fs bs fl fb lr flr"
BOTH = "f b l r v s fb lr"
DIRECTIONS = {**dict.fromkeys("NCZLJ", OBLIQUE), **dict.fromkeys("FAGB", DIAGONAL), **dict.fromkeys("KQ", BOTH)}
TURNS = "f b l r s v fs fl fr bs br bl"
TRACKS = "zR zB zW3 zF3 qNN qN3 qW3 qFF zDD qW2"
HOPS = "pR pB pQ pNN gR gB gQ gNN pW3 pF3 pR2 pN3 pDD"
LAME = "nN nA nD nZ nH nG nC nNN nN2 nAA jR jB jQ jD jA jW3 jNN jF2"
ATOMS = "W F D N A H C Z G R K B Q R K B Q W F"
PLANE_VECTORS = "(4,1) (1,2) (3,0) (2,2)3 (1,3)0 (0,2) (0,+1) (+1,+2) (-1,0)0 (-2,+1)2 (+2,-1)"
SPACE_VECTORS = "(4,1) (1,2) (1,1,1) (2,1,1) (1,1,1)0 (0,+1,0) (+1,+2,-1) (-1,0,+1)0 (0,0,-1)3"
# Pieces that can be captured in passing, by their boards, without their first moves and with a choice of these.
PAWNS = {
    "plane": ("mfWcfFefF", "imfnD imfW3 imflnA ifnD imfnDicsnD imsW2"),
    "hexagons": ("m(0,+1)ce(+1,0)ce(-1,+1)", "imn(0,+2) im(0,+1)3 im(+1,0)2"),
    "space": ("m(0,+1,0)ce(+1,+1,0)", "imn(0,+2,0) im(0,0,+1)3"),
}


class Chance:
    """Choices; those of a text are its words."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def flip(self, chance: float) -> bool:
        return self.chance.random() < chance

    def one(self, *choices: Any) -> Any:
        return self.chance.choice(choices)

    def word(self, words: str, *others: str) -> str:
        return self.chance.choice([*words.split(), *others])

    def some(self, keys: Json, chance: float = 0.5) -> Json:
        """Some keys of a table."""
        return {key: value for key, value in keys.items() if self.flip(chance)}


class BetzaWriter(Chance):
    """Writes Betza strings for a board."""

    def __init__(self, chance: random.Random, board: Board) -> None:
        super().__init__(chance)
        self.board = board
        self.kind = "hexagons" if board.hexagons else "plane" if board.dimensions == 2 else "space"

    def string(self) -> str:
        return "".join(self.part() for _ in range(self.one(1, 1, 1, 2, 2, 3)))

    def part(self) -> str:
        if self.kind == "plane" and self.flip(0.2):
            return self.legs() if self.flip(0.5) else self.bracket()
        if self.kind == "plane" and self.flip(0.05):
            return self.modes() + self.word(TRACKS)
        kind, first = self.chance.random(), "i" * self.flip(0.1)
        if kind < 0.15:
            hop = self.word(HOPS)
            return first + self.modes() + hop[0] + self.direction(hop[1]) + hop[1:]
        if kind < 0.3:
            return first + self.modes() + self.word(LAME)
        if kind < 0.4:
            return first + self.modes() + self.word(SPACE_VECTORS if self.kind == "space" else PLANE_VECTORS)
        atom, wraps = self.word(ATOMS), "o" * (self.kind != "hexagons" and self.flip(0.1))
        length = self.word("2 3 0", "", "", "", "", atom)
        return first + self.modes() + wraps + self.direction(atom) + atom + length

    def modes(self) -> str:
        return self.word("m c m c d md cd mc", "", "", "", "")

    def direction(self, atom: str) -> str:
        return self.word(DIRECTIONS.get(atom, STRAIGHT)) if self.kind == "plane" and self.flip(0.5) else ""

    def legs(self) -> str:
        """One atom in several legs."""
        atom = self.word("W F K R B Q D A N WW F2")
        legs = [self.direction(atom[0]) + self.word("m c p c mc mp cp", "", "") + "y" * self.flip(0.25)]
        for _ in range(self.one(1, 1, 2)):
            turn = self.word("f b" if atom == "N" else TURNS, "", "")
            legs.append(turn + self.word("m c p c mc mp cp", "", "") + "y" * self.flip(0.2))
        legs[-1] = re.sub("[mcpy]", "", legs[-1]) + self.modes()
        return "a".join(legs) + atom

    def bracket(self) -> str:
        """An atom for each leg."""
        text, atoms, last = "", "W F R B D A W2 F2 N K Q", self.one(2, 2, 3)
        for number in range(1, last + 1):
            atom, mode = self.word(atoms), self.word("m c mc" if number == last else "m c p", "", "")
            text += mode + atom + ("" if number == last else "-" if mode == "p" else self.one("-", "?", "-"))
            atoms = "F B A N K Q" if atom == "N" else "W F R B D A W2 K Q"
        return f"[{text}]"

    def leaps(self) -> str:
        return self.word("W F K N D fW vW fsW" if self.kind == "plane" else "W F K N D")


class Writer(Chance):
    """Writes a definition by chance."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self.features = {*chance.sample(FEATURES, chance.choice((1, 2, 3, 4)))}
        self.game: Json = {"title": "A game", "style": "G", **self.geometry(3 if self.features & AROUND else 5)}
        self.board = Board(self.game)
        self.betza = BetzaWriter(chance, self.board)
        self.squares = sorted(self.board.points)
        tokens = chance.sample(TOKENS, chance.choice((2, 2, 3)))
        # What is captured is in the hand without its state.
        self.tokens = [*dict.fromkeys([*tokens, *(token.lstrip("+") for token in tokens)])]

    def geometry(self, longest: int) -> Json:
        """A board of one of the kinds, which both sides see alike."""
        kind = self.word("plain plain plain cylinder holes space hexagons hexagons")
        files, ranks = self.chance.randint(3, longest), self.chance.randint(3, min(longest, 4))
        turned = self.some({"turned": True}, 0.3)
        if kind == "space":
            layers = self.chance.randint(2, 3 if longest > 3 else 2)
            return {"board": f"{self.chance.randint(2, 3)}x{self.chance.randint(2, 3)}x{layers}"} | turned
        if kind == "hexagons":
            lie = self.word("rows rows-left files files-down files-bent")
            if lie != "files-bent":
                return {"board": f"{files}x{ranks}", "hexagons": lie}
            files = self.one(3, longest)
            squares = [label((x, y)) for x in range(files) for y in range(ranks - 1 + min(x, files - 1 - x))]
            return {"squares": squares, "hexagons": lie}
        if kind == "holes":  # and perhaps without the first file
            x, y, shift = self.chance.randrange(files), self.chance.randrange(ranks), self.one(0, 1)
            holes = {(a, b) for a in (x, files - 1 - x) for b in (y, ranks - 1 - y)}
            there = [(a + shift, b) for a in range(files) for b in range(ranks) if (a, b) not in holes]
            return {"squares": [label(at) for at in there]} | turned | self.some({"cylinder": True}, 0.3)
        return {"board": f"{files}x{ranks}"} | turned | ({"cylinder": True} if kind == "cylinder" else {})

    def definition(self) -> Json:
        game, features = self.game, self.features
        if features & {"gating", "drops", "near", "encloses"} or self.flip(0.3):
            game["hands"] = {"captures": self.flip(0.7)}
        if "zones" in features:
            game["zones"] = {"some": self.some_squares(), "more": ["some", *self.some_squares()]}
        if "styles" in features:
            del game["style"]
            game["styles"] = {"first": "G", "second": "X"}
            self.tokens = [token for token in self.tokens if not token.endswith("'")] or ["A"]
        pieces = game["pieces"] = {token: self.piece(token) for token in self.tokens}
        if "sides" in features:
            token = self.tokens[0]
            game["second"] = {"E": self.piece("E"), token: pieces.pop(token)}
            game["first"] = {"E": self.piece("E"), token: self.piece(token)}
        if "walls" in features:
            game.setdefault("first", {})["W"] = {"betza": "", "immune": self.flip(0.7), "hand": False}
        if "castling" in features or ("gating" in features and self.flip(0.5)):
            pieces |= self.castling()
        if "en_passant" in features:
            text, first = PAWNS[self.betza.kind]
            area = {"initial": self.one("all", self.area()), "en_passant": self.one(True, self.area())}
            pieces["P"] = {"betza": text + self.word(first)} | area
            game["play"] = {"duties": ["clear-marks"]}
        # Where pieces cannot come to from the start, rules about what is spared or alone do not look.
        if "board" in game and self.board.dimensions == 2 and not features & {"blast", "alone"} and self.flip(0.4):
            game["start"] = self.start()
        return game

    def some_squares(self) -> list[str]:
        return self.chance.sample(self.squares, self.chance.randint(1, max(1, len(self.squares) // 2)))

    def area(self) -> Any:
        """Some squares, a zone, or one area for each side."""
        if self.flip(0.15):
            return {side: self.some_squares() for side in SIDES}
        if "zones" in self.features and self.flip(0.5):
            return self.one("some", "more", ["more", *self.some_squares()[:1]])
        return self.some_squares()

    # --- pieces ---

    def piece(self, token: str) -> Json:
        """A piece with some of the keys of the features of this definition."""
        others = [each for each in self.tokens if each != token]
        letters = [each.lstrip("+") for each in self.tokens]
        is_single = token[0] != "+" and f"+{token}" not in self.tokens  # and can have the state of the unmoved
        possible = {
            "also": {"also": [self.also()]},
            "confined": {"confined": self.area()},
            "excepted": self.some({"captures_except": [self.one(*letters)], "hurdles_except": [self.one(*letters)]})
            | self.some({"immune": True}, 0.2),
            "initial": {"initial": self.area()},
            "unmoved": {"unmoved": self.area()} if is_single else {},
            "terminal": {"terminal": True} if token == self.tokens[0] else {},
            "promotion": {"promotion": [self.promotion(others) for _ in range(self.one(1, 1, 2))]} if others else {},
            "alone": {"promotion": [self.promotion_alone(others) for _ in range(self.one(1, 1, 2))]} if others else {},
            "blast": {"blast": self.one(self.betza.leaps(), self.blast(), self.blast())},
            "turns": {"turns": self.betza.leaps()},
            "walls": {"wall": self.wall()},
            "gating": {"gating": True} | ({"unmoved": self.area()} if is_single and self.flip(0.7) else {}),
        }
        piece: Json = {"betza": self.betza.string()}
        for feature in [each for each in FEATURES if each in self.features & possible.keys()]:
            piece |= possible[feature] if self.flip(0.6) else {}
        if "hands" in self.game and not piece.get("terminal"):
            piece |= self.drop()
        if "initial" in piece:
            piece.pop("unmoved", None)
        return piece

    def also(self) -> Json:
        """A further way of moving."""
        return {"betza": self.betza.string()} | self.some({"from": self.area(), "within": self.area()}, 0.6)

    def promotion(self, others: list[str]) -> Json:
        """One that ends another move."""
        on = self.word("enter enter enter-or-leave any")
        rule: Json = {"to": self.chance.sample(others, self.chance.randint(1, len(others))), "on": on}
        rule |= self.some({"from": self.area()}, 0.3) | ({} if on == "any" else {"zone": self.area()})
        rule |= self.one({}, {"forced": True}, {"forced": "immobile"})
        rule |= self.one({}, {}, {"capturing": True}, {"unique": True})
        return rule

    def promotion_alone(self, others: list[str]) -> Json:
        """One that is a move."""
        rule: Json = {"to": [self.one(*others)]}
        ways = [{"betza": "mK"}, {"betza": self.betza.string()}, {"betza": "K", "in_place": True}]
        rule |= self.one({"in_place": True}, *ways)
        return rule | self.some({"zone": self.area(), "from": self.area(), "apart": self.betza.leaps(), "alone": True})

    def blast(self) -> Json:
        spares = [self.one(*self.tokens).lstrip("+")]
        return self.some({"betza": self.betza.leaps(), "stays": True, "spares": spares})

    def wall(self) -> Json:
        wall: Json = {"piece": self.one("W", "W", self.tokens[0])}
        wall |= self.one({}, {"past": True}, {"betza": self.word("mQ mK mN mW2 mR mA mnN")})
        return wall | self.some({"zone": self.area()}, 0.4)

    def drop(self) -> Json:
        """Whether and where a piece may be dropped."""
        leaps, features, keys = self.betza.leaps, self.features, Json()
        if "drops" in features:
            keys = {"nifu": self.one(True, 2), "zone": self.area(), "immobile": False, "on_top": True}
            keys |= {"other_colour": True, "apart": leaps(), "as": self.tokens[:2]}
            keys = self.some(keys, 0.35)
        keys |= {"near": leaps(), "lone": self.flip(0.5)} if "near" in features else {}
        keys |= {"encloses": self.word("W F K")} if "encloses" in features else {}
        keys |= {"unmoved": True} if features & {"unmoved", "gating"} and self.flip(0.5) else {}
        return {"drop": keys} if keys else self.one({}, {}, {"drop": True}, {"drop": False})

    def castling(self) -> Json:
        """A king and its partner, whose ways begin and end on a rank."""
        rank = [square for square in self.squares if not any(self.board.labels[square][1:])]
        if len(rank) < 2:
            return {}
        king, rook, to, rook_to = self.chance.sample(rank, 2) + self.chance.sample(rank, 2)
        castling: Json = {"from": king, "to": to, "with": rook, "with_to": rook_to}
        castling |= self.some({"from": rank}, 0.4) | self.some({"with": rank}, 0.3)
        if self.flip(0.2):
            castling["empty"] = self.chance.sample([each for each in self.squares if each not in (king, rook)], 2)
        return {
            "K": {"betza": self.word("K W iR miDcF"), "terminal": self.flip(0.5), "castling": [castling]},
            "R": {"betza": self.word("R W imWcF RimF")},
        }

    def start(self) -> str:
        """A start position, of pieces of both sides."""
        files, ranks = map(int, self.game["board"].split("x"))
        tables = {token: table for token, table in self.game["pieces"].items() if not table.get("confined")}
        names = [re.sub("([A-Z])", r"\1^", token) if tables[token].get("terminal") else token for token in tables]
        rows = ["".join(self.one(".", *names, *map(str.lower, names)) for _ in range(files)) for _ in range(ranks)]
        board = re.sub(r"\.+", lambda found: str(len(found[0])), "/".join(rows))
        return f"{board} / G/{'x' if 'styles' in self.game else 'g'}"


def definition(seed: int) -> str:
    """The text of a random definition."""
    return tomlkit.dumps(Writer(random.Random(seed)).definition())


def positions(rules: Definition, chance: random.Random) -> Iterator[tuple[dict[str, str], dict[str, int], str]]:
    """Positions by chance: a board, hands, and the side to move, whose own pieces have no marks."""
    held = [man for man in rules.plain_men.values() if "drop" in man.table or "gating" in man.table or rules.captures]
    while True:
        side, fullness, board = chance.choice(SIDES), chance.choice((0.2, 0.4, 0.6, 0.85)), {}
        may_stand = [man for man in rules.men.values() if man.side != side or not is_marked(man)]
        for square in sorted(rules.squares):
            men = [man for man in may_stand if square in man.squares]
            states = [man for man in men if man.state]
            if men and chance.random() < fullness:
                board[square] = chance.choice(states if states and chance.random() < 0.5 else men).identifier
        hands = {man.identifier: chance.randint(1, 2) for man in held if chance.random() < 0.6}
        yield board, hands, side


def is_marked(man: Man) -> bool:
    return bool(man.state and man.table.get("en_passant"))
