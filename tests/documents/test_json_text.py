"""JSON text: the same verdict and value as the standard library read strictly, and the place of every fault."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, NoReturn

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ggn_store import limits
from ggn_store.documents import ggn
from ggn_store.errors import Problem
from ggn_store.notation import json_text
from ggn_store.notation.json_text import Lines, Path, Twin, pointer

CHECK = settings(max_examples=200)

# Stands before the character that is at fault in the tables below; it is taken out before the text is read.
MARK = "»"

# The text, the pointer of the fault, and a part of what is said about it.
BROKEN = [
    (MARK, "", "the text ends too early"),
    (f" \n\t{MARK}", "", "the text ends too early"),
    (f"{{{MARK}", "", "the end of the text"),
    (f"[{MARK}", "/0", "the end of the text"),
    (f'{{"a"{MARK}', "/a", "a colon"),
    (f'{{"a":{MARK}', "/a", "a value"),
    (f'{{"a":1{MARK}', "/a", "a comma or }"),
    (f'{{"a":1,{MARK}', "", "a key in double quotes"),
    (f"[1{MARK}", "/0", "a comma or ]"),
    (f"[1,{MARK}", "/1", "a value"),
    # Commas and brackets.
    (f'{{"a":1,{MARK}}}', "", "a key in double quotes"),
    (f"[1,{MARK}]", "/1", "a value"),
    (f"[{MARK},1]", "/0", "a value"),
    (f"[1,{MARK},2]", "/1", "a value"),
    (f"{{{MARK},}}", "", "a key in double quotes"),
    (f'{{"a" {MARK}1}}', "/a", "a colon"),
    (f'{{"a"{MARK}}}', "/a", "a colon"),
    (f'{{"a":{MARK}}}', "/a", "a value"),
    (f'{{"a"{MARK}=1}}', "/a", "a colon"),
    (f'{{"a":1 {MARK}"b":2}}', "/a", "a comma or }"),
    (f'{{"a":1{MARK};"b":2}}', "/a", "a comma or }"),
    (f"[1 {MARK}2]", "/0", "a comma or ]"),
    (f'{{"a":[1{MARK}}}', "/a/0", "a comma or ]"),
    (f'[{{"a":1{MARK}]', "/0/a", "a comma or }"),
    (f"[{MARK}}}", "/0", "a value"),
    (f"{{{MARK}]", "", "a key in double quotes"),
    (f"{MARK}]", "", "a value"),
    (f"{MARK}}}", "", "a value"),
    (f"{{}} {MARK}{{}}", "", "text goes on"),
    (f"{{}}{MARK}x", "", "text goes on"),
    (f"{{}}\n{MARK}\x00", "", "text goes on"),
    # Keys that are no strings.
    (f"{{{MARK}a:1}}", "", "a key in double quotes"),
    (f"{{{MARK}'a':1}}", "", "a key in double quotes"),
    (f"{{{MARK}1:1}}", "", "a key in double quotes"),
    (f"{{{MARK}null:1}}", "", "a key in double quotes"),
    (f'{{"a":1,{MARK}b:1}}', "", "a key in double quotes"),
    (f'{{"x":{{"a":1,{MARK}b:1}}}}', "/x", "a key in double quotes"),
    # Words.
    (f"{MARK}nul", "", "a value"),
    (f"{MARK}nulll", "", "a value"),
    (f"[{MARK}True]", "/0", "a value"),
    (f"[true, {MARK}None]", "/1", "a value"),
    (f"{MARK}undefined", "", "a value"),
    (f'{{"a":{MARK}NaN}}', "/a", "NaN is not JSON"),
    (f"[{MARK}Infinity]", "/0", "Infinity is not JSON"),
    (f"[1,{MARK}-Infinity]", "/1", "-Infinity is not JSON"),
    # Numbers.
    (f"[{MARK}+1]", "/0", "a value"),
    (f"[0{MARK}1]", "/0", "a comma or ]"),
    (f"[-0{MARK}1]", "/0", "a comma or ]"),
    (f"[1{MARK}.]", "/0", "a comma or ]"),
    (f"[{MARK}.5]", "/0", "a value"),
    (f"[1{MARK}e]", "/0", "a comma or ]"),
    (f"[1{MARK}e+]", "/0", "a comma or ]"),
    (f"[{MARK}-]", "/0", "a value"),
    (f"[0{MARK}x10]", "/0", "a comma or ]"),
    (f"[1{MARK}_000]", "/0", "a comma or ]"),
    (f"[1{MARK}n]", "/0", "a comma or ]"),
    (f"[{MARK}٣]", "/0", "a value"),
    (f"[1{MARK}٣]", "/0", "a comma or ]"),
    (f'{{"a":{MARK}{"1" * 41}}}', "/a", "the number"),
    (f"[1,{MARK}-{'1' * 40}]", "/1", "the number"),
    (f"{MARK}1.{'0' * 39}", "", "the number"),
    (f"[{MARK}1e{'0' * 38}1]", "/0", "the number"),
    (f"[{MARK}{'9' * 5000}]", "/0", "the number"),
    # Nor a number so large or so small that nothing can be counted with it.
    (f"[1,{MARK}1e400]", "/1", "the number"),
    (f"[1,{MARK}-1E41]", "/1", "the number"),
    (f'{{"a":{MARK}1e-400}}', "/a", "the number"),
    (f"[{MARK}1e99999999999999999999]", "/0", "the number"),
    (f"[{MARK}-1e-99999999999999999999]", "/0", "the number"),
    (f"[{MARK}1e400,{MARK}1e400]", "/0", "the number"),
    # Strings.
    (f'[{MARK}"a', "/0", "the string is broken"),
    (f'[{MARK}"a]', "/0", "the string is broken"),
    (f'[{MARK}"a\\"]', "/0", "the string is broken"),
    (f'[{MARK}"a\nb"]', "/0", "the string is broken"),
    (f'[{MARK}"a\tb"]', "/0", "the string is broken"),
    (f'[{MARK}"\x00"]', "/0", "the string is broken"),
    (f'[{MARK}"\\x41"]', "/0", "the string is broken"),
    (f'[{MARK}"\\u12"]', "/0", "the string is broken"),
    (f'[{MARK}"\\u12g4"]', "/0", "the string is broken"),
    (f'[{MARK}"\\u 123"]', "/0", "the string is broken"),
    (f'[{MARK}"\\U0041"]', "/0", "the string is broken"),
    (f"[{MARK}'a']", "/0", "a value"),
    (f"[{MARK}“a”]", "/0", "a value"),
    (f'{{{MARK}"a\n":1}}', "", "the key is broken"),
    (f'{{{MARK}"a', "", "the key is broken"),
    # What other notations have and JSON has not.
    (f"{{{MARK}/* king */}}", "", "a key in double quotes"),
    (f"[1 {MARK}// one\n]", "/0", "a comma or ]"),
    (f"{{}} {MARK}# end", "", "text goes on"),
    (f"{MARK}<ggn/>", "", "a value"),
    (f"{MARK}C:K:\n  e1:\n", "", "a value"),
    # White space that is not JSON's.
    (f"[{MARK}\ufeff1]", "/0", "a value"),
    (f"{{}}{MARK}\ufeff", "", "text goes on"),
    (f"{MARK}\u00a0{{}}", "", "a value"),
    (f"{{}}{MARK}\u00a0", "", "text goes on"),
    (f"[1,{MARK}\x0b2]", "/1", "a value"),
    (f"[1,{MARK}\u20282]", "/1", "a value"),
    # Deep in the text: lines, characters outside ASCII, keys that a pointer escapes.
    (f'{{\n "a": {{\n  "b": [1,\n   2 {MARK}3]\n }}\n}}', "/a/b/1", "a comma or ]"),
    (f'{{\r\n "a": {MARK}x}}', "/a", "a value"),
    (f'{{"é🙂": {MARK}x}}', "/é🙂", "a value"),
    (f'{{"a/b~c": {MARK}x}}', "/a~1b~0c", "a value"),
    (f'{{"\\u0061\\/": {MARK}x}}', "/a~1", "a value"),
    (f'{{"": {MARK}x}}', "/", "a value"),
    (f'{{"a":"\u2028\x85\u2029", {MARK}x}}', "", "a key in double quotes"),
    # Depth: 64 levels are read, the 65th bracket is one too many.
    ("[" * 64 + MARK + "[" + "]" * 65, "/0" * 64, "nested too deeply"),
    ('{"a":' * 64 + MARK + "{}" + "}" * 64, "/a" * 64, "nested too deeply"),
    ("[" * 64 + MARK + "[" * 100_000, "/0" * 64, "nested too deeply"),
    ('{"a":1,"b":' + "[" * 63 + MARK + "[1]" + "]" * 63 + "}", "/b" + "/0" * 63, "nested too deeply"),
    # Keys that stand twice, at the place of the second one.
    (f'{{"a":1,{MARK}"a":2}}', "/a", "the key stands twice"),
    (f'{{"a":1,{MARK}"a":1}}', "/a", "the key stands twice"),
    (f'{{"a":1,{MARK}"\\u0061":2}}', "/a", "the key stands twice"),
    (f'{{"\\u0061":1,{MARK}"a":2}}', "/a", "the key stands twice"),
    (f'{{"/":1,{MARK}"\\/":2}}', "/~1", "the key stands twice"),
    (f'{{"🙂":1,{MARK}"\\ud83d\\ude42":2}}', "/🙂", "the key stands twice"),
    (f'{{"":1,{MARK}"":2}}', "/", "the key stands twice"),
    (f'[{{}},{{"a":1,"b":2,\n{MARK}"a":3}}]', "/1/a", "the key stands twice"),
    (f'{{"a":{{"b":1}},{MARK}"a":{{"b":1}}}}', "/a", "the key stands twice"),
]

DUPLICATES = [
    f'{{"$schema":"a","C:P":{{}},{MARK}"$schema":"a"}}',
    f'{{"C:P":{{}},{MARK}"C:P":{{}}}}',
    f'{{"C:P":{{"e2":{{}},{MARK}"e2":{{}}}}}}',
    f'{{"C:P":{{"e2":{{"e4":[],{MARK}"e4":[]}}}}}}',
    f'{{"C:P":{{"e2":{{"e4":[{{}},{{"must":{{}},{MARK}"must":{{}}}}]}}}}}}',
    f'{{"C:P":{{"e2":{{"e4":[{{"must":{{"e3":"empty",{MARK}"e3":"enemy"}}}}]}}}}}}',
    f'{{"C:P":{{"e2":{{"e4":[{{"deny":{{"e3":"empty",{MARK}"\\u00653":"enemy"}}}}]}}}}}}',
    f'{{"C:P":{{"e2":{{"e4":[{{"diff":{{}},{MARK}"diff":{{}}}}]}}}}}}',
    f'{{"C:P":{{"e2":{{"e4":[{{"diff":{{"toggle":true,{MARK}"toggle":true}}}}]}}}}}}',
    f'{{"C:P":{{"e2":{{"e4":[{{"diff":{{"board":{{"e2":null,{MARK}"e2":null}}}}}}]}}}}}}',
    f'{{"C:P":{{"e2":{{"e4":[{{"diff":{{"hands":{{"c:p":1,{MARK}"c:\\u0070":1}}}}}}]}}}}}}',
]


def unmarked(marked: str) -> tuple[str, list[int]]:
    """The text without its marks, and the offsets where they stood."""
    parts = marked.split(MARK)
    return "".join(parts), [len("".join(parts[:number])) for number in range(1, len(parts))]


def words(fault: Problem) -> str:
    return f"{fault.message}; found {fault.found}; allowed: {fault.allowed}"


@pytest.mark.parametrize(("marked", "at", "said"), BROKEN)
def test_a_fault_has_its_place_its_pointer_and_a_reason(marked: str, at: str, said: str) -> None:
    text, offsets = unmarked(marked)
    _, faults = json_text.load(text)
    assert [fault.offset for fault in faults] == offsets
    assert pointer(faults[0].path) == at
    assert said in words(faults[0])
    assert len(words(faults[0])) < 400


@pytest.mark.parametrize("marked", DUPLICATES)
def test_a_duplicate_key_is_a_fault_at_every_depth_of_a_document(marked: str) -> None:
    text, offsets = unmarked(marked)
    value, faults = json_text.load(text)
    assert [fault.offset for fault in faults] == offsets
    assert [fault.message for fault in faults] == ["the key stands twice in one object"]
    assert [path for path, _ in members(value) if path and isinstance(path[-1], Twin)] == [faults[0].path]


def test_of_duplicate_keys_every_one_is_read() -> None:
    value, _ = json_text.load('{"a":1,"b":{},"a":2,"\\u0061":{"c":3,"c":4}}')
    second, third = Twin("a", 2), Twin("a", 3)
    assert list(value.items()) == [("a", 1), ("b", {}), (second, 2), (third, {"c": 3, Twin("c", 2): 4})]
    assert len({"a", second, third}) == 3
    assert [str(second), f"{third}"] == ["a", "a"]
    assert (second == "a", second == "a", second != third, second == Twin("a", 2)) == (False, False, True, True)


def test_every_duplicate_key_is_reported_and_so_is_what_breaks_the_text_after_it() -> None:
    text, offsets = unmarked('{"a":{"b":1,»"b":2,»"b":3},»"a":[{"c":1,»"c":2}],"d":»x}')
    value, faults = json_text.load(text)
    assert value is None
    assert [fault.offset for fault in faults] == offsets
    assert [pointer(fault.path) for fault in faults] == ["/a/b", "/a/b", "/a", "/a/0/c", "/d"]


def test_a_number_that_is_too_long_hides_no_duplicate_key() -> None:
    text, offsets = unmarked(f'{{"a":1,»"a":[»{"7" * 41}],»"a":0}}')
    assert [fault.offset for fault in json_text.load(text)[1]] == offsets


# Whole numbers are ints however they are written.
NUMBERS_READ = [
    *(("1.0", 1), ("-1.0", -1), ("1e2", 100), ("1.5e1", 15), ("100e-2", 1), ("-0", 0), ("0.0", 0), ("-0e7", 0)),
    *(("0e99", 0), ("1e40", 10**40), ("-1e40", -(10**40)), ("1.5", 1.5), ("1e-1", 0.1), ("1e-40", 1e-40)),
    *(("9" * 40, 10**40 - 1), (f"1.{'0' * 38}", 1), ("0." + "3" * 38, float("0." + "3" * 38))),
]


@pytest.mark.parametrize(("text", "number"), NUMBERS_READ)
def test_a_number_is_read_by_its_value(text: str, number: int | float) -> None:
    value, faults = json_text.load(text)
    assert (faults, value, type(value)) == ([], number, type(number))


SOUND = [
    *("0", "-0", "1.5e-3", '""', "null", "true", "[]", "{}", " \t\r\n[ ] ", '{"a":{"a":{"a":1}}}', '[{"a":1},{"a":2}]'),
    *(
        '"\\u0000\\ud83d\\ude42\\"\\\\\\/\\b\\f\\n\\r\\t"',
        '"\x7f\u2028é🙂"',
        '{"a":1,"A":2,"á":3,"a\u0301":4}',
        "1" * 40,
    ),
    *("[" * 64 + "]" * 64, '{"a":' * 64 + "1" + "}" * 64, "[" + "[],{}," * 2000 + "[]]", f"1.{'0' * 38}"),
]


@pytest.mark.parametrize("text", SOUND)
def test_sound_json_has_no_fault(text: str) -> None:
    assert json_text.load(text) == (json.loads(text), [])
    assert json_text.scan(text).faults == []


def test_lines_and_columns_count_from_one_in_characters() -> None:
    lines = Lines('{\n "é🙂":\r\n\n1}')
    places = {0: (1, 1), 1: (1, 2), 2: (2, 1), 3: (2, 2), 7: (2, 6), 9: (2, 8), 10: (3, 1), 11: (4, 1), 12: (4, 2)}
    assert {offset: lines.place(offset) for offset in places} == places
    assert Lines("").place(0) == (1, 1)


@CHECK
@given(st.text("ab\n\r\u2028", max_size=30).flatmap(lambda text: st.tuples(st.just(text), st.integers(0, len(text)))))
def test_only_a_line_feed_ends_a_line(case: tuple[str, int]) -> None:
    text, offset = case
    before = text[:offset]
    assert Lines(text).place(offset) == (before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


BYTES = [
    (b"{}", "{}", None),
    (b"\xef\xbb\xbf{}", "\ufeff{}", None),
    ('{"é🙂":1}'.encode(), '{"é🙂":1}', None),
    (b"", "", None),
    (b'{"a":"\xff"}', '{"a":"', "byte 0xff"),
    ('{"é":'.encode() + b"\xc3", '{"é":', "byte 0xc3"),
    (b"\xef\xbb\xbf\x80", "\ufeff", "byte 0x80"),
    (b"\xed\xa0\x80", "", "byte 0xed"),
    (b"\xc0\xaf", "", "byte 0xc0"),
    ("é".encode("latin-1"), "", "byte 0xe9"),
    ("{}".encode("utf-16"), "", "byte 0xff"),
    ("{}".encode("utf-16-le"), "{\x00}\x00", None),
]


@pytest.mark.parametrize(("data", "text", "found"), BYTES)
def test_bytes_are_read_as_utf_8_up_to_the_first_byte_that_is_not(data: bytes, text: str, found: str | None) -> None:
    read, fault = json_text.decode_bytes(data)
    assert read == text
    assert (fault and (fault.offset, fault.found)) == (found and (len(text), found))


def test_a_byte_order_mark_is_not_part_of_the_text() -> None:
    assert json_text.load("\ufeff[1]") == ([1], [])
    [fault] = json_text.load("\ufeff[1,x]")[1]
    assert fault.offset == 3
    assert json_text.scan("\ufeff[1]", {(0,)}).places == {(0,): (1, 1)}
    [second] = json_text.load("\ufeff\ufeff[1]")[1]
    assert second.offset == 0


@pytest.mark.parametrize(
    "broken", ['{"C:P":x}', '{"C:P":1}', '{\n"C:P":x}', '{"C:Q":{},\r\n\n "C:P": 1}', '{"C:P":2,\n"C:P":3}']
)
def test_a_byte_order_mark_moves_no_line_and_no_column(broken: str) -> None:
    without = ggn.problems(broken.encode())
    assert without
    assert all(problem.line is not None for problem in without)
    assert ggn.problems(("\ufeff" + broken).encode()) == without
    assert ggn.problems("\ufeff" + broken) == without


@pytest.mark.parametrize("levels", [64, 65, 70, 900, 100_000])
@pytest.mark.parametrize(
    "text", ['{{"C:P":{open}{close},"C:Q":1}}', '{{"C:Q":1,"C:P":{open}{close}}}', '{{"C:P":{open}']
)
def test_every_problem_of_a_document_that_is_nested_too_deeply_has_a_place(text: str, levels: int) -> None:
    problems = ggn.problems(text.format(open="[" * (levels - 1), close="]" * (levels - 1)))
    assert problems
    assert all(problem.line is not None for problem in problems)
    assert (levels > 64) == any("nested too deeply" in problem.message for problem in problems)


def test_a_document_that_is_too_large_is_a_fault_that_says_how_large() -> None:
    with limits.allow({"document-bytes": 4}):
        assert json_text.decode_bytes(b"[12]") == ("[12]", None)
        text, fault = json_text.decode_bytes(b"[123]")
    assert fault is not None
    assert (text, fault.offset, fault.found) == ("", 0, "5 bytes")
    assert "larger than 4 bytes" in fault.message


# --- against the standard library ---


class NotStrictError(ValueError):
    """The standard library would read this text, a strict reader does not."""


def strict(text: str) -> Any:
    """What `text` says, by the standard library with every leniency closed; a ValueError or RecursionError if not.

    Whole numbers are ints, and nothing from 10**41 or up to 10**-41 is a number. A byte order mark is left out.
    """

    def constant(name: str) -> NoReturn:
        raise NotStrictError(name)

    def number(digits: str) -> int | float:
        mantissa, _, exponent = digits.lower().partition("e")
        if len(digits) > 40:
            raise NotStrictError(digits)
        if not mantissa.strip("-0."):
            return 0
        exact = Fraction(mantissa) * Fraction(10) ** max(-99, min(99, int(exponent or "0")))
        if not Fraction(1, 10**40) <= abs(exact) < 10**41:
            raise NotStrictError(digits)
        return int(exact) if exact.denominator == 1 else float(digits)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) != len(pairs):
            raise NotStrictError(pairs)
        return dict(pairs)

    value = json.loads(
        text.removeprefix("\ufeff"),
        object_pairs_hook=unique,
        parse_constant=constant,
        parse_int=number,
        parse_float=number,
    )
    if depth(value) > 64:
        raise NotStrictError(depth(value))
    return value


def depth(value: Any) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if parts is None else 1 + max(map(depth, parts), default=0)


def agrees(text: str) -> bool:
    """Whether `text` is JSON; fails where `load`, `scan` and the strict reading are not of one mind."""
    value, faults = json_text.load(text)
    try:
        expected = strict(text)
    except (ValueError, RecursionError):
        assert faults != [], text
        assert all(fault.offset is not None and 0 <= fault.offset <= len(text) for fault in faults)
        assert json_text.scan(text).faults == faults
        return False
    assert faults == [], text
    assert json_text.scan(text).faults == []
    assert repr(value) == repr(expected)
    return True


NAMES = st.sampled_from(["a", "b", "", "a/b~c", "é🙂", '\x00\n"\\']) | st.text(max_size=5)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**45), 10**45)
TREES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


def written(tree: Any, indent: int | None, ascii_only: bool, tight: bool) -> str:
    separators = (",", ":") if tight else (" , ", " :\t")
    return json.dumps(tree, indent=indent, ensure_ascii=ascii_only, separators=separators)


TEXTS = st.builds(written, TREES, st.none() | st.integers(0, 2), st.booleans(), st.booleans())
PIECES_OF_TEXT = st.sampled_from(
    [*'{}[]",:-+.eE0123456789 \n\t\\u/', "null", "NaN", "-Infinity", "1" * 41, '"a":1,', '"\\u0061":', "\x00", "\ufeff"]
)
RAW_KEYS = st.sampled_from(['"a"', '"\\u0061"', '"b"', '"\\u0062"', '""', '"c/~"'])
RAW_LEAVES = st.sampled_from(
    [
        *("0", "-0", "1e5", "1e400", "01", "1.", "NaN", "Infinity", "null", "true", '"a"', '"\\x"', '"\\ud800"', ""),
        *("1" * 40, "1" * 41, f"1.{'0' * 39}", f"-1.{'0' * 37}", f"1e{'0' * 39}", "[" * 64 + "]" * 64, "{}", "[]"),
    ]
)
# JSON as text, put together from parts that are mostly sound, with keys that collide.
RAW = st.recursive(
    RAW_LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: f"[{','.join(parts)}]")
        | st.lists(st.tuples(RAW_KEYS, inner), max_size=3).map(
            lambda parts: "{" + ", ".join(f"{name}:{part}" for name, part in parts) + "}"
        )
    ),
    max_leaves=8,
)


@CHECK
@given(TEXTS)
def test_what_the_standard_library_writes_gets_the_verdict_of_a_strict_reading(text: str) -> None:
    agrees(text)


@CHECK
@given(RAW)
@example("[" * 900 + "]" * 900)
@example('{"a":' * 70 + "0" + "}" * 70)
@example("1" * 4301)
@example("\ufeff\ufeffnull")
@example("\ufeff1e41")
@example(f"[1,{'1' * 41},NaN")
def test_text_that_may_be_json_gets_the_verdict_of_a_strict_reading(text: str) -> None:
    agrees(text)


@settings(max_examples=400)
@given(st.data(), TEXTS)
def test_mutated_json_gets_the_verdict_of_a_strict_reading(data: st.DataObject, text: str) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 3)))
        text = text[:start] + data.draw(PIECES_OF_TEXT | st.just("")) + text[end:]
    agrees(text)


@CHECK
@given(st.text('{}[]",:-.eE01 \n\\unltrfas', max_size=12) | st.text(max_size=6))
def test_any_text_gets_the_verdict_of_a_strict_reading(text: str) -> None:
    agrees(text)


def members(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    """Every member of a tree, itself included, with its path."""
    found = [(path, value)]
    if isinstance(value, dict):
        for name, part in value.items():
            found += members(part, (*path, name))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            found += members(part, (*path, number))
    return found


@CHECK
@given(TREES, st.none() | st.integers(0, 2), st.booleans(), st.booleans())
def test_the_place_of_a_member_is_where_its_text_begins(
    tree: Any, indent: int | None, ascii_only: bool, tight: bool
) -> None:
    text = written(tree, indent, ascii_only, tight)
    expected = members(tree)
    places = json_text.scan(text, {path for path, _ in expected}).places
    assert set(places) == {path for path, _ in expected}
    read = json.JSONDecoder().raw_decode
    for path, value in expected:
        key, at = places[path]
        assert repr(read(text, at)[0]) == repr(value)
        if path and isinstance(path[-1], str):
            assert read(text, key)[0] == path[-1]
            assert text[key] == '"'
            assert key < at
        else:
            assert key == at


def test_only_the_wanted_members_are_placed() -> None:
    text = '{"a":[10,20],"b":{"a":30}}'
    places = json_text.scan(text, {("a", 1), ("b", "a"), ("c",), ("a", 7)}).places
    assert places == {
        ("a", 1): (text.index("20"), text.index("20")),
        ("b", "a"): (text.rindex('"a"'), text.index("30")),
    }


def test_each_of_duplicate_members_has_its_place() -> None:
    text = '{"a":1,"a":[2],"a":[3]}'
    wanted: list[Path] = [("a",), (Twin("a", 2),), (Twin("a", 2), 0), (Twin("a", 3), 0)]
    assert json_text.scan(text, wanted).places == dict(zip(wanted, [(1, 5), (7, 11), (12, 12), (20, 20)], strict=True))


def test_members_after_a_broken_place_are_not_placed() -> None:
    scan = json_text.scan('{"a":1,"b":x,"c":2}', {("a",), ("c",)})
    assert list(scan.places) == [("a",)]
    assert [fault.offset for fault in scan.faults] == [11]
