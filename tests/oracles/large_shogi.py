"""Large games of shogi by their written rules, in plain Python: what each piece does in each of eight directions.

A word is a direction, a step if nothing follows it: `*` ranges, a number limits, `!` leaps over a square, `~` ranges
from the second square on, `^` ranges, and takes whatever is on its line. `lion` takes two steps, taking what it meets
on both, in any direction or along those that are named; `cats` are two diagonal steps of a lion, `igui` takes what is
beside it, and `area` is everything within three squares. `dog` takes up to three steps on one line, back again, too,
but not past where it began, over whatever it does not take. `hook` ranges along the directions that are named, and then
may turn to either side and range on. `anywhere` is every square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Final

Point = tuple[int, int]
Outcome = tuple[str, str, frozenset[str], str]  # from, to, what is taken, and what it is afterwards

COMPASS = {"n": (0, 1), "ne": (1, 1), "e": (1, 0), "se": (1, -1), "s": (0, -1), "sw": (-1, -1), "w": (-1, 0)}
COMPASS["nw"] = (-1, 1)
ALL = "n ne e se s sw w nw"

_STEPS = {
    "king": ALL,
    "gold": "n ne e s w nw",
    "silver": "n ne se sw nw",
    "copper": "n ne nw s",
    "iron": "n ne nw",
    "stone": "ne nw",
    "leopard": "n ne nw s se sw",
    "tiger": "ne e se s sw w nw",
    "elephant": "n ne e se sw w nw",
    "between": "n s",
    "pawn": "n",
    "lance": "n*",
    "white horse": "n* s* ne* nw*",
    "chariot": "n* s*",
    "whale": "n* s* se* sw*",
    "side mover": "e* w* n s",
    "boar": "e* w* ne* nw* se* sw*",
    "vertical mover": "n* s* e w",
    "ox": "n* s* ne* nw* se* sw*",
    "stag": "n* s* ne e se sw w nw",
    "bishop": "ne* se* sw* nw*",
    "horse": "ne* se* sw* nw* n e s w",
    "rook": "n* e* s* w*",
    "dragon": "n* e* s* w* ne se sw nw",
    "queen": "n* ne* e* se* s* sw* w* nw*",
    "falcon": "ne* e* se* s* sw* w* nw* lion:n",
    "eagle": "n* e* se* s* sw* w* lion:ne lion:nw",
    "lion": "lion",
    "kirin": "ne se sw nw n! e! s! w!",
    "phoenix": "n e s w ne! se! sw! nw!",
    "knight": "knight",
    "cat sword": "ne se sw nw",
    "evil wolf": "n ne e w nw",
    "angry boar": "n e s w",
    "violent ox": "n2 e2 s2 w2",
    "flying dragon": "ne2 se2 sw2 nw2",
    "cloud eagle": "n* s* ne3 nw3 e w se sw",
    "flying falcon": "ne* se* sw* nw* n",
    "tenacious falcon": "ne* se* sw* nw* n* s* e w",
    "fox": "n ne se s sw nw n! ne! se! s! sw! nw!",
    "rabbit": "n* ne se s sw nw",
    "flying cock": "ne e w nw",
    "raiding falcon": "n* s* ne e w nw",
    "crow": "n se sw",
    "dog": "ne e s w nw",
    "liberated horse": "n* s2",
    "heavenly horse": "knight back",
    "side soldier": "n2 e* w* s",
    "vertical soldier": "n* e2 w2 s",
    "chariot soldier": "n* s* ne* se* sw* nw* e2 w2",
    "buffalo": "ne* e* se* sw* w* nw* n2 s2",
    "tetrarch": "n~ ne~ se~ s~ sw~ nw~ e~3 w~3 igui",
    "bishop general": "ne^ se^ sw^ nw^",
    "rook general": "n^ e^ s^ w^",
    "great general": "n^ ne^ e^ se^ s^ sw^ w^ nw^",
    "vice general": "ne^ se^ sw^ nw^ area",
    "demon": "n* ne* se* s* sw* nw* area",
    "free eagle": "n* ne* e* se* s* sw* w* nw* cats",
    "lion hawk": "lion ne* se* sw* nw*",
    "multi general": "n* se* sw*",
    "hound": "n se sw",
    "blue dragon": "n2 ne* e* s2 w* nw",
    "blind bear": "ne se sw nw s*",
    "blind monkey": "ne e se sw w nw",
    "buddhist devil": "ne3 e s w nw3",
    "capricorn": "hook:ne,se,sw,nw",
    "chinese cock": "ne e s w nw",
    "coiled serpent": "n s se sw",
    "dark spirit": "ne e sw nw",
    "deva": "ne se w nw",
    "donkey": "n! s! e w",
    "dove": "n2 e2 s2 w2 ne5 se5 sw5 nw5",
    "eastern barbarian": "n2 s2 ne e w nw",
    "emperor": "anywhere",
    "enchanted badger": "n2 e2 w2",
    "fierce eagle": "n ne nw e2 w2 se2 sw2",
    "flying horse": "n e s w ne2 nw2",
    "fragrant elephant": "n2 e2 s2 w2 se2 sw2 ne* nw*",
    "free demon": "ne* se* sw* nw* e* w* n5 s5",
    "dream-eater": "ne* se* sw* nw* n* s* e5 w5",
    "furious fiend": "lion n3 ne3 e3 se3 s3 sw3 w3 nw3",
    "goblin": "n e s w hook:ne,se,sw,nw",
    "golden bird": "n* s* e2 w2 ne3 se3 sw3 nw3",
    "golden deer": "ne* nw* se2 sw2",
    "great dragon": "e* w* n2 s2 ne3 se3 sw3 nw3",
    "great elephant": "e5 w5 se5 sw5 n3 s3 ne3 nw3",
    "guardian": "n3 e3 s3 w3 ne nw",
    "hook mover": "hook:n,e,s,w",
    "howling dog": "n* s",
    "left chariot": "n* nw* se* s",
    "left general": "n ne e se s sw nw",
    "lion dog": "dog",
    "mountain witch": "ne* se* sw* nw* s* n",
    "northern barbarian": "ne2 nw2 e w se sw",
    "old kite": "n2 e2 s2 w2 ne nw",
    "old monkey": "ne se sw nw s",
    "old rat": "ne2 nw2 s2",
    "peacock": "hook:ne,nw se2 sw2",
    "poisonous snake": "n! se! sw! e w",
    "prancing stag": "n ne se sw nw e2 w2",
    "racing chariot": "n* e* s* w* se sw",
    "ram's-head soldier": "ne* nw*",
    "reclining dragon": "n e s w se sw",
    "right chariot": "n* ne* sw* s",
    "right general": "n ne se s sw w nw",
    "rushing bird": "ne* se* sw* nw* n* e* w*",
    "she-devil": "n5 e5 s5 w5 ne2 se2 sw2 nw2",
    "side dragon": "n* e* w* s",
    "silver hare": "ne2 nw2 se* sw*",
    "soldier": "n* e* s* w* se* sw*",
    "southern barbarian": "se2 sw2 e w ne nw",
    "square mover": "n* e* s* w* ne nw",
    "standard bearer": "n* ne* nw* e2 s2 w2 se2 sw2",
    "spirit": "n* ne* e* se* s* sw* w* nw* lion",
    "teaching king": "n* ne* e* se* s* sw* w* nw* dog",
    "tile": "ne nw s",
    "turtle-snake": "ne* sw* n e s w",
    "sparrow": "ne* sw* n e s w se",
    "violent bear": "ne2 nw2 e w",
    "western barbarian": "e2 w2 n s ne nw",
    "white elephant": "se* sw* n2 e2 s2 w2 ne2 nw2",
    "white tiger": "n* s* nw* e2 w2 ne",
    "wizard stork": "ne* se* sw* nw* n* s",
    "wood": "ne2 nw2",
    "wrestler": "ne3 se3 sw3 nw3 e w",
}

_CHU = """
K king; E elephant king; G gold rook; S silver vertical mover; C copper side mover; F leopard bishop; T tiger stag
X phoenix queen; O kirin lion; L lance white horse; A chariot whale; M side mover boar; V vertical mover ox
B bishop horse; R rook dragon; H horse falcon; D dragon eagle; Q queen; P pawn gold
"""
_OTHERS = {
    "chu-shogi": "N lion; I between elephant",
    "dai-shogi": """
        Z lion; J between elephant; I iron; Y stone; N knight; W cat sword; U evil wolf; -B angry boar; -O violent ox
        -D flying dragon""",
    "wa-shogi": """
        K king; E cloud eagle; F flying falcon tenacious falcon; S side mover rook; X fox; R rabbit fox; W gold king
        V silver elephant; G copper side mover; C flying cock raiding falcon; U crow flying falcon; L crow cloud eagle
        D dog gold; M copper silver; H liberated horse heavenly horse; O lance king; P pawn gold""",
    "heian-shogi": "K king; G gold; S silver; N knight; L lance; P pawn gold",
    # What is promoted already goes by another letter, as far as there are any; some of it is what others begin as.
    "tenjiku-shogi": """
        Z =-Z lion lion hawk; -Z lion hawk; I iron vertical soldier; N knight side soldier; J hound multi general
        W =U buffalo demon; U demon; Q =Y queen free eagle; Y free eagle; -M =+W side soldier buffalo
        -V =+Z vertical soldier chariot soldier; -C =+U chariot soldier tetrarch; -H =+Y falcon bishop general
        -D =+Q eagle rook general; -B =-O bishop general vice general; -R =-Q rook general great general
        -O vice general; -Q great general; H horse falcon; D dragon eagle""",
    "large/tai-shogi": """
        A angry boar; A' blue dragon; B =G bishop gold; B' blind bear; -B =+B blind monkey mountain witch
        -B' =G buddhist devil gold; C copper; C' =G capricorn gold; -C =+C chinese cock wizard stork; -C' cat sword
        D dragon; D' dove; -D =G donkey gold; -D' =+D' deva teaching king; E =K' elephant king
        E' =+E' eastern barbarian lion; -E between; -E' evil wolf; F leopard; F' fierce eagle
        -F =G flying dragon gold; -F' =Q flying horse queen; G gold; G' golden deer; -G between; -G' =G guardian gold
        H horse; H' =G hook mover gold; -H howling dog; -H' falcon; I iron; I' =D' enchanted badger dove; J goblin
        J' =G she-devil gold; -J standard bearer; K emperor; K' king; -K =G knight gold; L lance; L' left chariot
        -L left general; -L' =+L' lion dog great elephant; M =G side mover gold; M' =G side dragon gold; -M silver hare
        -M' eagle; N =+N lion furious fiend; N' =+N' northern barbarian fragrant elephant; -N =-J king standard bearer
        O =Y kirin great dragon; O' =J old kite goblin; -O old monkey; -O' =+C old rat wizard stork; P pawn; P' peacock
        -P =+P poisonous snake hook mover; -P' =+P' prancing stag square mover; Q queen; Q' free demon; -Q dream-eater
        R =G rook gold; R' chariot; -R right general; -R' right chariot; S silver; S' soldier; -S stone
        -S' =U' southern barbarian white elephant; T tiger; T' tile; -T turtle-snake; U =+U dark spirit spirit
        U' white elephant; -U white tiger; -U' wood; V =G vertical mover gold; V' sparrow; -V violent bear
        -V' violent ox; W =-Q buffalo dream-eater; W' =+W' western barbarian lion dog; -W whale; -W' white horse
        X =Y' phoenix golden bird; X' ox; -X racing chariot; Y great dragon; Y' golden bird; -Y =G wrestler gold
        Z coiled serpent; Z' ram's-head soldier; -Z reclining dragon; -Z' =Q' rushing bird free demon""",
}
# What is a gold general from then on, under the one letter of a promoted pawn.
_GOLDEN: Final = {"dai-shogi": ("I", "Y", "N", "W", "U", "-B", "-O", "-D"), "heian-shogi": ("S", "N", "L")}
GAMES: Final = frozenset(_OTHERS)
_DEPTH = {"chu-shogi": 4, "dai-shogi": 5, "wa-shogi": 3, "heian-shogi": 3, "tenjiku-shogi": 5}
_CHU_LIKE: Final = ("chu-shogi", "dai-shogi", "tenjiku-shogi")
# Where a piece that has something to promote to does so whenever it takes anything, and never else.
_BY_CAPTURE: Final = frozenset({"large/tai-shogi"})
# Games of which a piece goes to some squares in two ways that come to the same.
OVERLAPPING: Final = frozenset({"large/tai-shogi", "tenjiku-shogi"})


def _split(words: str) -> list[str]:
    """The names in a line, the longest that are known first."""
    if not words:
        return []
    parts = words.split(" ")
    for count in range(len(parts), 0, -1):
        if (name := " ".join(parts[:count])) in _STEPS:
            return [name, *_split(" ".join(parts[count:]))]
    raise ValueError(words)


@dataclass(frozen=True)
class Rules:
    """A game: how each token moves, what it becomes, the board, how deep the zone is, and whether leaving it counts."""

    moves: Mapping[str, str]
    becomes: Mapping[str, str]
    files: int
    ranks: int
    depth: int
    is_chu: bool
    is_by_capture: bool

    @classmethod
    def of(cls, name: str, files: int, ranks: int) -> Rules:
        """The rules of a game."""
        text = (_CHU if name in _CHU_LIKE else "") + "\n" + _OTHERS[name]
        moves, becomes = {}, dict.fromkeys(_GOLDEN.get(name, ()), "+P")
        for entry in text.replace(";", "\n").split("\n"):
            token, _, words = entry.strip().partition(" ")
            if not token:
                continue
            target = words.split(" ")[0][1:] if words.startswith("=") else f"+{token}"
            plain, *promoted = _split(words.partition(" ")[2] if words.startswith("=") else words)
            moves[token] = _STEPS[plain]
            if promoted:
                moves[target], becomes[token] = _STEPS[promoted[0]], target
        return cls(moves, becomes, files, ranks, _DEPTH.get(name, 0), name in _CHU_LIKE, name in _BY_CAPTURE)

    def outcomes(self, men: Mapping[Point, tuple[int, str]], side: int) -> Iterator[Outcome]:
        """All moves of a side, 1 or -1."""
        for at, (owner, token) in men.items():
            if owner == side:
                for to, taken in self._ends(men, at, side, self.moves[token]):
                    for after in self._after(token, at, to, side, bool(taken)):
                        yield text(at), text(to), frozenset(map(text, taken)), after

    def _ends(
        self, men: Mapping[Point, tuple[int, str]], at: Point, side: int, words: str
    ) -> Iterator[tuple[Point, list[Point]]]:
        def there(point: Point) -> int | None:
            """Whose man is on a square: 0 if nobody's, None off the board."""
            if not (0 <= point[0] < self.files and 0 <= point[1] < self.ranks):
                return None
            return men.get(point, (0, ""))[0]

        def step(point: Point, dx: int, dy: int, count: int = 1) -> Point:
            return point[0] + side * dx * count, point[1] + side * dy * count

        def end(point: Point) -> Iterator[tuple[Point, list[Point]]]:
            owner = there(point)
            if owner is not None and owner != side:
                yield point, [point] if owner else []

        for word in words.split():
            if word.startswith("lion"):
                named = word.partition(":")[2]
                around = [COMPASS[named]] if named else list(COMPASS.values())
                reach = {(a, b) for a in range(-2, 3) for b in range(-2, 3)} - {(0, 0)}
                for dx, dy in [(c * around[0][0], c * around[0][1]) for c in (1, 2)] if named else reach:
                    yield from end(step(at, dx, dy))
                for dx, dy in around:
                    first = step(at, dx, dy)
                    if there(first) != -side:
                        continue
                    yield at, [first]
                    for ex, ey in around:
                        second = step(first, ex, ey)
                        if second != at:
                            yield from ((to, [first, *taken]) for to, taken in end(second))
            elif word == "cats":
                corners = [(a, b) for a in (1, -1) for b in (1, -1)]
                for dx, dy in [*((2 * a, 2 * b) for a, b in corners), (2, 0), (-2, 0), (0, 2), (0, -2)]:
                    yield from end(step(at, dx, dy))
                for dx, dy in corners:
                    first = step(at, dx, dy)
                    if there(first) == -side:
                        yield at, [first]
                        others = [step(first, ex, ey) for ex, ey in corners if (ex, ey) != (-dx, -dy)]
                        yield from ((to, [first, *taken]) for second in others for to, taken in end(second))
            elif word == "igui":
                yield from (
                    (at, [each]) for each in (step(at, *way) for way in COMPASS.values()) if there(each) == -side
                )
            elif word == "area":
                within = {(a, b) for a in range(-3, 4) for b in range(-3, 4)} - {(0, 0)}
                yield from (found for dx, dy in within for found in end(step(at, dx, dy)))
            elif word == "anywhere":
                yield from (found for x in range(self.files) for y in range(self.ranks) for found in end((x, y)))
            elif word == "dog":
                for way in COMPASS.values():
                    yield from self._dog([step(at, *way, count) for count in range(4)], there, side)
            elif word.startswith("hook:"):
                for way in [COMPASS[each] for each in word.removeprefix("hook:").split(",")]:
                    for count in range(1, max(self.files, self.ranks)):
                        corner = step(at, *way, count)
                        yield from end(corner)
                        if there(corner) != 0:
                            break
                        for turn in ((way[1], -way[0]), (-way[1], way[0])):
                            for further in range(1, max(self.files, self.ranks)):
                                yield from end(step(corner, *turn, further))
                                if there(step(corner, *turn, further)) != 0:
                                    break
            elif "~" in word or "^" in word:
                yield from self._over(men, at, side, word)
            elif word in ("knight", "back"):
                for dx in (1, -1):
                    yield from end(step(at, dx, 2 if word == "knight" else -2))
            elif word.endswith("!"):
                dx, dy = COMPASS[word[:-1]]
                yield from end(step(at, dx, dy, 2))
            else:
                name = word.rstrip("*235")
                dx, dy = COMPASS[name]
                limit = {"": 1, "*": 99}.get(word[len(name) :]) or int(word[len(name) :])
                for count in range(1, limit + 1):
                    yield from end(step(at, dx, dy, count))
                    if there(step(at, dx, dy, count)) != 0:
                        break

    @staticmethod
    def _dog(line: list[Point], there: Callable[[Point], int | None], side: int) -> Iterator[tuple[Point, list[Point]]]:
        """What up to three steps along a line, of which the first square is where they begin, can come to."""
        for path in ((1,), (1, 0), (1, 2), (1, 2, 1), (1, 2, 3)):
            if any(there(line[each]) is None for each in path):
                continue
            *passed, last = path
            enemies = [each for each in passed if there(line[each]) == -side]
            for taken in chain.from_iterable(combinations(enemies, count) for count in range(len(enemies) + 1)):
                if last == 0:
                    if taken:
                        yield line[0], [line[each] for each in taken]
                elif there(line[last]) != side:
                    all_taken = {*taken, *([last] if there(line[last]) == -side else [])}
                    yield line[last], [line[each] for each in sorted(all_taken)]

    def _over(
        self, men: Mapping[Point, tuple[int, str]], at: Point, side: int, word: str
    ) -> Iterator[tuple[Point, list[Point]]]:
        """The ends of a line that begins with the second square, or on which anything may be taken."""
        leaps = "^" in word
        name, _, limit = word.replace("^", "~").partition("~")
        dx, dy = COMPASS[name]
        is_open = True
        for count in range(1 if leaps else 2, int(limit or 99) + 1):
            to = at[0] + side * dx * count, at[1] + side * dy * count
            if not (0 <= to[0] < self.files and 0 <= to[1] < self.ranks):
                break
            owner = men.get(to, (0, ""))[0]
            if owner == -side and (leaps or is_open):
                yield to, [to]
            elif owner == 0 and is_open:
                yield to, []
            is_open = is_open and owner == 0

    def _after(self, token: str, at: Point, to: Point, side: int, takes: bool) -> list[str]:
        """What a piece may be after a move."""
        better = self.becomes.get(token)
        if better is None:
            return [token]
        if self.is_by_capture:
            return [better if takes else token]

        def deep(point: Point) -> bool:
            return point[1] >= self.ranks - self.depth if side == 1 else point[1] < self.depth

        last = to[1] == (self.ranks - 1 if side == 1 else 0)
        if self.is_chu:
            may = (deep(to) and not deep(at)) or (takes and (deep(at) or deep(to))) or (token == "P" and last)
            return [token, better] if may else [token]
        if not (deep(at) or deep(to)):
            return [token]
        ranks_left = (self.ranks - 1 - to[1]) if side == 1 else to[1]
        words = self.moves[token].split()
        ahead = min(2 if word == "knight" else 1 for word in words)
        only_ahead = all(word.rstrip("*23") in ("n", "ne", "nw", "knight") for word in words)
        return [better] if only_ahead and ranks_left < ahead else [token, better]


def text(point: Point) -> str:
    """The label of a square."""
    return f"{chr(ord('a') + point[0])}{point[1] + 1}"
