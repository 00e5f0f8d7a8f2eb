"""Mutants of valid documents: the same number gives the same mutant, on every machine.

Two kinds of harm: to the tree (values, keys, whole branches) and to the bytes. Many mutants stay valid on
purpose: a validator that refuses too much must be found out as well.
"""

import json
import random
from collections.abc import Callable, Sequence

from tests.support.malformed.checker import Items, Members, Number, Reader, Value


def words(text: str) -> list[str]:
    return text.split()


PIECES = words("C:P c:p C:+K^ C:K' C:P^' C:P'^ CHESS:P chess:-p C4:P S:P GAME:B 4C:P C:p c:P C:PP C: :P C:+-P C:P+ CP")
PIECES += ["*", "empty", "", "C:P ", "C:P\n", "C:Р", "Ｃ:P", "C" * 253 + ":P", "C" * 254 + ":P"]
SQUARES = words("e1 e2 e4 e5 a1A a1B h8Hh8 aa10 e zz99ZZ 5e A1 e0 e01 e4a ** * e4A1 aA empty 東 a/b~c é4 e٤")
SQUARES += ["", "e4 ", "e4\n", "e4\0", "\0", "\ud800", "\udc04\ud83c", "e" * 255, "e" * 256]
STATES = [*words("empty enemy empty enemy ally occupied Empty"), "enemy ", *PIECES]
KEYS = words("must deny diff require prevent perform board hands toggle $schema gain drop board_check board_patch")
KEYS += ["board_diff", "in_hand_add", "first_player_hand_diff", "Must", "musts", ""]
NUMBERS = words("0 -0 1 -1 2 1.0 1.5 -2.00 1e2 1E+6 1e-1 10e-1 0.0 1000000 -1000000 1000001 -1e7 1e999 -1e999 1e-999")
NUMBERS += [*words("9223372036854775808 01 +1 .5 1. NaN Infinity -Infinity 0x1 1_0"), "7" * 5000]
SCHEMAS = ["", "https://example.org/schema", "*", "e4", "\ud800"]
TOKENS = [token.encode() for token in words(r'{ } [ ] : , " \ null true false 0 1 - . e4 * {} [] [{}] // # NaN 1e999')]
TOKENS += [b'"e4"', b'"C:P"', b'"empty"', b'"enemy"', b'"must"', b'"deny"', b'"diff"', b'"toggle"', b"\\u0034", b"\\n"]
TOKENS += [b'"e4":"empty"', b'"e4":null', b',"must":{}', b',"diff":{}', b"\\u0000", b"\\ud800", b"\\x", b" ", b"\n"]
TOKENS += [b"\t", b"\0", b"\x1f", b"\x7f", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xc2\xa0"]

Slot = tuple[Members | Items, int]


def mutant(number: int, grounds: Sequence[bytes]) -> tuple[str, bytes]:
    """The mutant of that number, after a line that tells how it was made."""
    chance = random.Random(f"malformed {number}")
    ground = chance.randrange(len(grounds))
    told = [f"mutant {number} of ground {ground}"]
    raw = grounds[ground]
    kind = chance.random()
    if kind < 0.75:
        tree = Reader(raw.decode()).document()
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            harm = chance.choice(TREE_HARMS)
            told.append(harm.__name__)
            harm(tree, chance)
        raw = written(tree, chance).encode()
    if kind > 0.7:
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            harm_bytes = chance.choice(BYTE_HARMS)
            told.append(harm_bytes.__name__)
            raw = harm_bytes(raw, chance)
    return ", ".join(told), raw


def written(value: Value, chance: random.Random) -> str:
    """JSON text in one of several layouts and spellings."""
    comma, colon = chance.choice(((",", ":"), (", ", ": "), (" ,\r\n\t", " : ")))
    escaping = chance.random() < 0.2

    def text(string: str) -> str:
        if escaping and string and string.isascii() and chance.random() < 0.3:
            at = chance.randrange(len(string))
            return json.dumps(string[:at])[:-1] + f"\\u{ord(string[at]):04x}" + json.dumps(string[at + 1 :])[1:]
        unwritable = any("\ud800" <= character <= "\udfff" for character in string)
        return json.dumps(string, ensure_ascii=escaping or unwritable)

    def write(value: Value) -> str:
        if isinstance(value, Members):
            return "{" + comma.join(text(key) + colon + write(inner) for key, inner in value) + "}"
        if isinstance(value, Items):
            return "[" + comma.join(map(write, value)) + "]"
        if isinstance(value, Number):
            return str(value)
        return text(value) if isinstance(value, str) else json.dumps(value)

    return write(value)


# --- the tree -----------------------------------------------------------------------------------------------


def slots(value: Value) -> list[Slot]:
    """Every place of the tree below its root."""
    found: list[Slot] = []
    if isinstance(value, Members | Items):
        for index in range(len(value)):
            found.append((value, index))
            found += slots(get((value, index)))
    return found


def get(slot: Slot) -> Value:
    branch, index = slot
    return branch[index][1] if isinstance(branch, Members) else branch[index]


def put(slot: Slot, value: Value) -> None:
    branch, index = slot
    if isinstance(branch, Members):
        branch[index] = (branch[index][0], value)
    else:
        branch[index] = value


def copy(value: Value) -> Value:
    if isinstance(value, Members):
        return Members((key, copy(inner)) for key, inner in value)
    return Items(copy(inner) for inner in value) if isinstance(value, Items) else value


def any_value(chance: random.Random) -> Value:
    condition = (chance.choice(SQUARES), chance.choice(STATES))
    pool: list[Value] = [None, True, False, "", "empty", "C:P", Items(), Members(), Items([Members()])]
    pool += [Members([condition]), Number(chance.choice(NUMBERS)), chance.choice(STATES), chance.choice(SQUARES)]
    return chance.choice(pool)


def possibilities(tree: Value) -> list[Members]:
    return [
        value
        for branch, index in slots(tree)
        if not isinstance(branch, Members) and isinstance(value := get((branch, index)), Members)
    ]


def maps(tree: Value) -> list[tuple[str, Members]]:
    """The maps of conditions and effects, with their keys."""
    return [
        (key, value)
        for possibility in possibilities(tree)
        for name, inner in possibility
        for key, value in [(name, inner), *(inner if name == "diff" and isinstance(inner, Members) else ())]
        if isinstance(value, Members)
    ]


def replace_a_value(tree: Value, chance: random.Random) -> None:
    if places := slots(tree):
        put(chance.choice(places), any_value(chance))


def replace_a_word(tree: Value, chance: random.Random) -> None:
    if places := [slot for slot in slots(tree) if type(get(slot)) is str]:
        put(chance.choice(places), chance.choice([*STATES, None]))


def replace_a_number(tree: Value, chance: random.Random) -> None:
    places = [slot for slot in slots(tree) if isinstance(get(slot), bool | Number)]
    if places:
        put(chance.choice(places), Number(chance.choice(NUMBERS)) if chance.random() < 0.8 else any_value(chance))


def rename_anything(tree: Value, chance: random.Random) -> None:
    if places := [(branch, index) for branch, index in slots(tree) if isinstance(branch, Members)]:
        branch, index = chance.choice(places)
        branch[index] = (chance.choice([*PIECES, *SQUARES, *KEYS]), branch[index][1])


def rename_in_kind(tree: Value, chance: random.Random) -> None:
    """A piece by a piece, a square by a square: what stays valid more often than not."""
    kinds: list[tuple[Members, Sequence[str]]] = [(each, SQUARES) for key, each in maps(tree) if key != "hands"]
    kinds += [(each, PIECES) for key, each in maps(tree) if key == "hands"]
    kinds += [(each, KEYS) for each in possibilities(tree)]
    if isinstance(tree, Members):
        kinds.append((tree, PIECES))
        for _, sources in tree:
            if isinstance(sources, Members):
                kinds.append((sources, SQUARES))
                kinds += [(inner, SQUARES) for _, inner in sources if isinstance(inner, Members)]
    if kinds := [kind for kind in kinds if kind[0]]:
        branch, names = chance.choice(kinds)
        index = chance.randrange(len(branch))
        branch[index] = (chance.choice(names), branch[index][1])


def remove(tree: Value, chance: random.Random) -> None:
    if places := slots(tree):
        branch, index = chance.choice(places)
        del branch[index]


def repeat(tree: Value, chance: random.Random) -> None:
    if places := slots(tree):
        branch, index = chance.choice(places)
        again = copy(get((branch, index)))
        if isinstance(branch, Members):
            branch.insert(chance.randrange(len(branch) + 1), (branch[index][0], again))
        else:
            branch.insert(index, again)


def move(tree: Value, chance: random.Random) -> None:
    if places := slots(tree):
        put(chance.choice(places), copy(get(chance.choice(places))))


def swap(tree: Value, chance: random.Random) -> None:
    if places := slots(tree):
        one, other = chance.choice(places), chance.choice(places)
        first, second = copy(get(one)), copy(get(other))
        put(one, second)
        # The first may have been part of the second, and its branch no longer in the tree: harmless.
        put(other, first)


def clear(tree: Value, chance: random.Random) -> None:
    if places := [value for slot in slots(tree) if isinstance(value := get(slot), Members | Items)]:
        chance.choice(places).clear()


def wrap(tree: Value, chance: random.Random) -> None:
    if places := slots(tree):
        slot = chance.choice(places)
        for _ in range(chance.choice((1, 1, 70))):
            put(slot, Items([get(slot)]) if chance.random() < 0.5 else Members([("e4", get(slot))]))


def add_a_key(tree: Value, chance: random.Random) -> None:
    if places := possibilities(tree):
        value = any_value(chance) if chance.random() < 0.5 else Members([(chance.choice(SQUARES), "empty")])
        chance.choice(places).append((chance.choice(KEYS), value))


def add_a_condition(tree: Value, chance: random.Random) -> None:
    if places := [each for key, each in maps(tree) if key in ("must", "deny", "require", "prevent", "board")]:
        chance.choice(places).append((chance.choice(SQUARES), chance.choice(STATES)))


def add_to_a_hand(tree: Value, chance: random.Random) -> None:
    if places := [inner for each in possibilities(tree) for key, inner in each if key == "diff"]:
        place = chance.choice(places)
        if isinstance(place, Members):
            count = Members([(chance.choice(PIECES), Number(chance.choice(NUMBERS)))])
            place.append(chance.choice((("hands", count), ("toggle", any_value(chance)))))


def contradict(tree: Value, chance: random.Random) -> None:
    """The conditions of one map, in the other one, some with another state."""
    other = {"must": "deny", "deny": "must", "require": "prevent", "prevent": "require"}
    if places := [each for each in possibilities(tree) if any(key in other for key, _ in each)]:
        place = chance.choice(places)
        key, conditions = chance.choice([member for member in place if member[0] in other])
        if isinstance(conditions, Members):
            place[:] = [member for member in place if member[0] != other[key]]
            place.append((other[key], Members((at, chance.choice((state, "enemy"))) for at, state in conditions)))


def restate(tree: Value, chance: random.Random) -> None:
    """The piece on its source square (or one very like it), required."""
    piece, sources = chance.choice(tree) if isinstance(tree, Members) and tree else ("", None)
    source, destinations = chance.choice(sources) if isinstance(sources, Members) and sources else ("", None)
    if places := possibilities(Items([destinations])):
        place = chance.choice(places)
        key = "require" if any(key in ("require", "perform") for key, _ in place) else "must"
        place[:] = [member for member in place if member[0] != key]
        place.append((key, Members([(source, chance.choice((piece, piece, piece.swapcase(), "enemy")))])))


def to_the_hand(tree: Value, chance: random.Random) -> None:
    """A location, or a condition's square, becomes the hand."""
    places: list[Members] = [each for _, each in maps(tree)]
    for _, sources in tree if isinstance(tree, Members) else ():
        if isinstance(sources, Members):
            places += [sources, *(inner for _, inner in sources if isinstance(inner, Members))]
    if places := [place for place in places if place]:
        place = chance.choice(places)
        index = chance.randrange(len(place))
        place[index] = ("*", place[index][1])


def set_the_schema(tree: Value, chance: random.Random) -> None:
    if isinstance(tree, Members):
        tree[:] = [member for member in tree if member[0] != "$schema"]
        value = any_value(chance) if chance.random() < 0.3 else chance.choice(SCHEMAS)
        tree.insert(chance.randrange(len(tree) + 1), ("$schema", value))


TREE_HARMS: tuple[Callable[[Value, random.Random], None], ...] = (
    *(
        replace_a_value,
        replace_a_word,
        replace_a_word,
        replace_a_number,
        replace_a_number,
        rename_anything,
        rename_in_kind,
    ),
    *(rename_anything, rename_in_kind, rename_in_kind, remove, remove, repeat, move, swap, clear, wrap, add_a_key),
    *(add_a_condition, add_to_a_hand, contradict, restate, to_the_hand, set_the_schema),
)


# --- the bytes ----------------------------------------------------------------------------------------------


def cut(raw: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(raw) + 1)
    return raw[:at] + raw[at + chance.choice((1, 1, 2, 8, 64)) :]


def double(raw: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(raw) + 1)
    end = at + chance.choice((1, 1, 2, 8, 64))
    return raw[:end] + raw[at:]


def exchange(raw: bytes, chance: random.Random) -> bytes:
    if not raw:
        return raw
    changed = bytearray(raw)
    one = chance.randrange(len(raw))
    other = chance.choice((chance.randrange(len(raw)), min(one + 1, len(raw) - 1)))
    changed[one], changed[other] = changed[other], changed[one]
    return bytes(changed)


def overwrite(raw: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(raw) + 1)
    byte = chance.choice((chance.randrange(256), chance.choice(b"0123456789"), chance.choice(b"abcdefgABCDEFG+-^':")))
    return raw[:at] + bytes((byte,)) + raw[at + 1 :]


def insert(raw: bytes, chance: random.Random) -> bytes:
    at = chance.choice((0, len(raw), chance.randrange(len(raw) + 1), chance.randrange(len(raw) + 1)))
    return raw[:at] + chance.choice(TOKENS) + raw[at:]


def truncate(raw: bytes, chance: random.Random) -> bytes:
    return raw[: chance.randrange(len(raw) + 1)]


def replace_a_token(raw: bytes, chance: random.Random) -> bytes:
    token = chance.choice(TOKENS)
    at = raw.find(token, chance.randrange(len(raw) + 1))
    return raw[:at] + chance.choice(TOKENS) + raw[at + len(token) :] if at >= 0 else raw


def replace_a_token_everywhere(raw: bytes, chance: random.Random) -> bytes:
    return raw.replace(chance.choice(TOKENS), chance.choice(TOKENS))


def encode(raw: bytes, chance: random.Random) -> bytes:
    text = raw.decode("utf-8", "replace")
    return text.encode(chance.choice(("utf-8-sig", "utf-8-sig", "utf-16", "utf-32", "latin-1")), "replace")


BYTE_HARMS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(cut, cut, double, exchange, overwrite, overwrite, insert, insert, truncate),
    *(replace_a_token, replace_a_token, replace_a_token_everywhere, encode),
)
