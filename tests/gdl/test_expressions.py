"""The expressions of game descriptions: the trees that texts mean, and the place of what is wrong in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggn_store import limits
from ggn_store.gdl.expressions import (
    MAX_DEPTH,
    Attribute,
    Call,
    Expression,
    ExpressionError,
    Index,
    Literal,
    Name,
    parse,
    start_of,
    text_of,
)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("start", Name("start", 0)),
        ("  start\t\n", Name("start", 2)),
        ("'a, b]).c'", Literal("a, b]).c", 0)),
        ('"it\'s"', Literal("it's", 0)),
        ("''", Literal("", 0)),
        ("-12", Literal(-12, 0)),
        ("+3", Literal(3, 0)),
        ("true", Literal(True, 0)),
        ("false", Literal(False, 0)),
        ("null", Literal(None, 0)),
        ("nullable", Name("nullable", 0)),
        ("f()", Call("f", (), 0)),
        ("f(a, 'b')", Call("f", (Name("a", 2), Literal("b", 5)), 0)),
        ("a.b.c", Attribute(Attribute(Name("a", 0), "b", 2), "c", 4)),
        ("a.true", Attribute(Name("a", 0), "true", 2)),
        ("b[f(x)].y", Attribute(Index(Name("b", 0), Call("f", (Name("x", 4),), 2), 1), "y", 8)),
        ("f(x).y[z]", Index(Attribute(Call("f", (Name("x", 2),), 0), "y", 5), Name("z", 7), 6)),
        ("größe . x", Attribute(Name("größe", 0), "x", 8)),
        ("f( g( 1 ) ,2)", Call("f", (Call("g", (Literal(1, 6),), 3), Literal(2, 11)), 0)),
    ],
)
def test_a_text_means_one_tree(text: str, tree: Expression) -> None:
    assert parse(text) == tree


# The text with a caret before the character that is wrong, and what is said of it.
BROKEN = [
    ("^", "the expression is empty"),
    ("^  ", "the expression is empty"),
    ("eq(a, b^", "the bracket ( is not closed"),
    ("eq(a,^", "the expression ends too early"),
    ("eq(^", "the expression ends too early"),
    ("eq(a ^b)", "a comma or a closing bracket is missing"),
    ("eq(a,^,b)", "an expression cannot begin so"),
    ("eq(^,b)", "an expression cannot begin so"),
    ("eq(a, ^)", "an expression cannot begin so"),
    ("eq(a, b)^)", "there is no bracket that this ) could close"),
    ("a^]", "there is no bracket that this ] could close"),
    ("a ^b", "the expression has ended here, but text goes on"),
    ("'it'^'s'", "the expression has ended here, but text goes on"),
    ("a^['x'", "the bracket [ is not closed"),
    ("a[^]", "an expression cannot begin so"),
    ("a^[b c]", "the bracket [ is not closed"),
    ("a.^", "a name must follow the dot"),
    ("a.^.b", "a name must follow the dot"),
    ("a.^'b'", "a name must follow the dot"),
    ("a.^1", "a name must follow the dot"),
    ("^.a", "an expression cannot begin so"),
    ("a.b^(c)", "only names are called: b is an attribute"),
    ("a.b^(", "only names are called: b is an attribute"),
    ("f(x)^(y)", "the expression has ended here, but text goes on"),
    ("^'abc", "the quote is not closed"),
    ('eq(a, ^"b)', "the quote is not closed"),
    ("^1.5", "this is not a whole number"),
    ("^2x", "this is not a whole number"),
    ("^9999999999", "the number is out of range"),
    ("^-1000000001", "the number is out of range"),
    ("^" + "9" * 5000, "the number is out of range"),
    ("a ^+ b", 'the character "+" has no meaning here'),
    ("a ^= b", 'the character "=" has no meaning here'),
    ("^{}", 'the character "{" has no meaning here'),
    ("^$x", 'the character "$" has no meaning here'),
    ("a^;", 'the character ";" has no meaning here'),
    ("^(a)", "an expression cannot begin so"),
    ("^[a]", "an expression cannot begin so"),
    ("a^‮b", 'the character "\\u202e" has no meaning here'),
]


@pytest.mark.parametrize(("marked", "message"), BROKEN)
def test_what_is_no_expression_is_wrong_at_a_character(marked: str, message: str) -> None:
    at = marked.index("^")
    with pytest.raises(ExpressionError) as caught:
        parse(marked.replace("^", "", 1))
    if message.startswith("the bracket ("):
        at = marked.index("(")  # it is the open bracket that is to be mended
    assert (caught.value.message, caught.value.at) == (message, at)


@pytest.mark.parametrize(
    ("deepest", "too_deep"),
    [
        ("f(" * (MAX_DEPTH - 1) + "x" + ")" * (MAX_DEPTH - 1), "f(" * MAX_DEPTH + "x" + ")" * MAX_DEPTH),
        ("b[" * (MAX_DEPTH - 1) + "x" + "]" * (MAX_DEPTH - 1), "b[" * MAX_DEPTH + "x" + "]" * MAX_DEPTH),
        ("a" + ".b" * (MAX_DEPTH - 1), "a" + ".b" * MAX_DEPTH),
        ("a" + "[b]" * (MAX_DEPTH - 1), "a" + "[b]" * MAX_DEPTH),
        ("f(" * 40 + "x" + ".y" * (MAX_DEPTH - 41) + ")" * 40, "f(" * 40 + "x" + ".y" * (MAX_DEPTH - 40) + ")" * 40),
    ],
    ids=["calls", "brackets", "dots", "keys", "dots in calls"],
)
def test_expressions_have_a_greatest_depth(deepest: str, too_deep: str) -> None:
    parse(deepest)
    with pytest.raises(ExpressionError, match="nested too deeply"):
        parse(too_deep)


@pytest.mark.parametrize("text", ["f(" * 9_000, "[" * 9_000, "a" + ".b" * 9_000, "a[" * 9_000, "f(a," * 4_000])
def test_hopeless_depth_is_only_an_error(text: str) -> None:
    with pytest.raises(ExpressionError):
        parse(text)


def test_expressions_have_a_greatest_length() -> None:
    assert parse(f"'{'x' * (limits.DESCRIPTION_TEXT.most - 2)}'") == Literal(
        "x" * (limits.DESCRIPTION_TEXT.most - 2), 0
    )
    with pytest.raises(ExpressionError, match="longer than"):
        parse(f"'{'x' * (limits.DESCRIPTION_TEXT.most - 1)}'")


names = st.from_regex(r"[a-z_][a-z0-9_]{0,4}", fullmatch=True).filter(
    lambda each: each not in ("true", "false", "null")
)
literals = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(st.characters(exclude_characters="'", codec="utf-8"), max_size=8)
)
trees = st.recursive(
    st.builds(Name, names, st.just(0)) | st.builds(Literal, literals, st.just(0)),
    lambda inner: (
        st.builds(Call, names, st.lists(inner, max_size=3).map(tuple), st.just(0))
        | st.builds(Attribute, inner, names, st.just(0))
        | st.builds(Index, inner, inner, st.just(0))
    ),
    max_leaves=12,
)


def bare(tree: Expression) -> Expression:
    """A tree without its places."""
    match tree:
        case Call(name=name, arguments=arguments):
            return Call(name, tuple(map(bare, arguments)), 0)
        case Attribute(of=of, name=name):
            return Attribute(bare(of), name, 0)
        case Index(of=of, key=key):
            return Index(bare(of), bare(key), 0)
        case Name(text=text):
            return Name(text, 0)
        case Literal(value=value):
            return Literal(value, 0)


@given(trees)
def test_a_tree_written_as_text_is_read_as_itself(tree: Expression) -> None:
    assert bare(parse(text_of(tree))) == tree


@given(st.text("eqab().,[]'\"01- \n", max_size=30) | st.text(max_size=30))
def test_any_text_is_a_tree_or_an_error_inside_the_text(text: str) -> None:
    wrong: ExpressionError | None = None
    try:
        at = start_of(parse(text))
    except ExpressionError as error:
        wrong, at = error, error.at
    assert 0 <= at <= len(text)
    assert wrong is None or wrong.message
