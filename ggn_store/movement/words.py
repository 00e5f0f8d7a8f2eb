"""Movement in words: `slides orthogonally`, `knight leaps`, `one step forward without capturing`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ggn_store.model.documents.geometry import Symmetry, Vector, hexagonal_symmetries
from ggn_store.model.known import Known
from ggn_store.movement.movement import CAPTURE, QUIET, RUN, Motion, MotionItem

_NAMES: Final[dict[tuple[int, ...], str]] = {
    (1, 2): "knight leaps",
    (1, 3): "camel leaps",
    (2, 3): "zebra leaps",
}
_WAYS: Final = {1: "orthogonally", 2: "diagonally", 3: "triagonally"}
_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_MOST: Final = 12

Goals = frozenset[tuple[str, ...]]
# A kind of motion without direction and goal, and each of its directions with all its goals there.
_Form = Motion


SymmetryGroup = tuple[Symmetry, ...]


def describe(motions: Iterable[Motion], group: SymmetryGroup) -> list[str]:
    """The motions of a piece on a board with these symmetries, as phrases; like ones are told together.

    What moves change, and drops, are left out.
    """
    goals: dict[Motion, set[tuple[str, ...]]] = {}
    for motion in map(_asked, motions):
        if motion.is_drop:
            continue
        goals.setdefault(_told(replace(motion, goal=())), set()).add(motion.goal)
    _join(goals)
    forms: dict[tuple[_Form, Goals], list[Motion]] = {}
    ways = Known(lambda to: _ways(to, group))
    for motion, found in goals.items():
        forms.setdefault((_form(motion, ways), frozenset(found)), []).append(motion)
    ordered = sorted(forms.items(), key=lambda item: _order(*item[0]))
    phrases: list[str] = []
    count = 0
    for (form, there), each in ordered:
        if count <= _MOST:
            phrases += _phrases(form, there, each, group)
            count = len(phrases)
        else:  # told by their number alone
            count += 1 if _is_told_together(form, each, group) else len(each)
    if count > _MOST:
        phrases[_MOST - 1 :] = [f"and {count - _MOST + 1} other ways"]
    return phrases


def _order(form: Motion, goals: Goals) -> tuple[object, ...]:
    vector = form.to or ()
    return not form.everywhere, len(form.items), sum(map(abs, vector)), vector, form.text, sorted(goals)


def _asked(motion: Motion) -> Motion:
    """The motion without what it changes."""

    def asked(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if not name.startswith("becomes "))

    path: list[tuple[str, ...]] = []
    for each in motion.path:
        way = RUN if asked(each) == (QUIET,) else asked(each)
        if way != RUN or path[-1:] != [RUN]:
            path.append(way)
    return Motion(
        motion.to,
        tuple(item for item in motion.items if asked([item[0]])),
        tuple(path),
        motion.steps,
        asked(motion.goal),
        asked(motion.start),
        is_drop=motion.is_drop,
        everywhere=motion.everywhere,
    )


def _told(motion: Motion) -> Motion:
    """The motion, with empty squares between what has to be jumped over left unsaid."""
    if all(each == RUN for each in motion.path):
        return motion
    return replace(motion, path=tuple(each for each in motion.path if each != RUN), steps=())


def _join(goals: dict[Motion, set[tuple[str, ...]]]) -> None:
    """Make one of a step and what goes on from there; where several do, of the one that goes on to the end."""
    longer = (each for each in goals if each.path == (RUN,) and each.steps[:1] == (2,) and len(each.steps) == 2)
    for motion in sorted(longer, key=lambda each: (each.steps[1] is not None, each.text)):
        step = replace(motion, path=(), steps=())
        if goals.get(step) == goals[motion]:
            goals[replace(motion, steps=(1, motion.steps[1]))] = goals.pop(motion)
            del goals[step]


def _form(motion: Motion, ways: Mapping[Vector, Sequence[Symmetry]]) -> Motion:
    """The motion as it looks in the first of its directions: that with small and growing numbers."""
    to = motion.to
    if to is None:
        return motion
    found = ways[to]
    if len(found) == 1 or not motion.items:
        return motion.seen(found[0])
    return min((motion.seen(each) for each in found), key=lambda each: str(each.items))


def _ways(to: Vector, group: SymmetryGroup) -> list[Symmetry]:
    """The symmetries that lead a vector to the first of its directions."""
    wanted = min((each(to) for each in group), key=lambda image: (sum(part < 0 for part in image), image))
    return [each for each in group if each(to) == wanted]


def _phrases(form: Motion, goals: Goals, motions: list[Motion], group: SymmetryGroup) -> Iterable[str]:
    if form.to is None:
        for motion in sorted(motions, key=lambda motion: motion.text):
            yield _phrase(motion, goals, "", motion.items, group)
        return
    if len(motions) == _orbit(form, group):
        yield _phrase(form, goals, "", form.items, group)
    elif form.items:
        for motion in sorted(motions, key=lambda motion: motion.text):
            yield _phrase(motion, goals, _directions([motion.to or ()], form, group), motion.items, group)
    else:
        yield _phrase(form, goals, _directions([motion.to or () for motion in motions], form, group), (), group)


def _is_told_together(form: Motion, motions: list[Motion], group: SymmetryGroup) -> bool:
    return form.to is not None and (not form.items or len(motions) == _orbit(form, group))


def _orbit(form: Motion, group: SymmetryGroup) -> int:
    """How many different directions a form has."""
    to = form.to or ()
    return len({(each(to), *sorted((name, each(vector)) for name, vector in form.items)) for each in group})


def _phrase(form: Motion, goals: Goals, directions: str, items: Collection[MotionItem], group: SymmetryGroup) -> str:
    parts = [_way(form, directions, group), _goals(goals)]
    if items:
        told = [f"{_vector(vector)} {_state(name)}" for name, vector in items]
        parts.append(f"if {' and '.join(told)}")
    if not form.everywhere:
        parts.append("from some squares")
    return " ".join(filter(None, parts))


def _way(form: Motion, directions: str, group: SymmetryGroup) -> str:
    """How far, and in what direction: `slides diagonally forward`, `two squares orthogonally`, `knight leaps`."""
    if form.to is None:
        return "goes into the hand"
    if not any(form.to):
        return "stays where it is"
    # Among hexagons the greatest number is the sum of the others.
    parts = sorted(map(abs, form.to))[: -1 if group == hexagonal_symmetries() else None]
    numbers = tuple(filter(None, parts))
    is_line = len(set(numbers)) == 1 and len(numbers) in _WAYS
    way = _WAYS[len(numbers)] if is_line else ""
    # `one step forward` says all of an orthogonal one.
    straight = directions if way == "orthogonally" and directions else f"{way} {directions}".strip()
    leap = _NAMES.get(numbers, f"{_vector(numbers)} leaps")
    hurdles = [each for each in form.path if each != RUN]
    if hurdles:
        over = ", then ".join(" and ".join(map(_hurdle, each)) or "anything" for each in hurdles)
        return f"jumps {straight or f'by {leap}'} over {over}"
    if not form.path:
        if not is_line:
            return f"{leap} {directions}".strip()
        return f"one step {straight}" if numbers[0] == 1 else f"leaps {_number(numbers[0])} squares {straight}"
    if not is_line:
        return f"rides by {leap} {directions}".strip() + _limit(form, "leaps")
    by = "" if numbers[0] == 1 else f" by {_number(numbers[0])} squares at a time"
    return f"slides {straight}{by}{_limit(form, 'squares' if not by else 'times')}"


def _limit(form: Motion, unit: str) -> str:
    steps = form.steps
    if len(steps) != 2:
        return f", {' or '.join(map(str, steps))} {unit}" if steps else ""
    low, high = steps
    if low == high:
        return f", exactly {_number(low)} {unit}"
    if high is None:
        return "" if low == 1 else f", {_number(low)} {unit} or more"
    return f", up to {_number(high)} {unit}" if low == 1 else f", {_number(low)} to {_number(high)} {unit}"


def _directions(vectors: Collection[Vector], form: Motion, group: SymmetryGroup) -> str:
    """Which of the directions of a form: `forward`, `sideways`, or the vectors."""
    found = set(vectors)
    orbit = {each(form.to) for each in group} if form.to else set()
    if len(form.to or ()) == 2:
        names = (
            ("forward", {each for each in orbit if each[1] > 0}),
            ("backward", {each for each in orbit if each[1] < 0}),
            ("to the left", {each for each in orbit if each[0] < 0 and not each[1]}),
            ("to the right", {each for each in orbit if each[0] > 0 and not each[1]}),
        )
        told = [name for name, those in names if those and those <= found]
        if {*told[-2:]} == {"to the left", "to the right"}:
            told[-2:] = ["sideways"]
        if set().union(*(those for _, those in names if those <= found)) == found:
            return _listed(told)
    return f"by {_listed(sorted(map(_vector, found)))}"


def _goals(goals: Goals) -> str:
    if goals == {(QUIET,), (CAPTURE,)}:
        return ""
    if goals == {(QUIET,)}:
        return "without capturing"
    if goals == {(CAPTURE,)}:
        return "only to capture"
    told = [" and ".join(map(_state, goal)) for goal in sorted(goals)]
    return f"where it {' or '.join(each or 'has anything' for each in told)}"


def _state(item: str) -> str:
    """A condition, of a square: `is empty`, `has no enemy`, `has a friend of its kind`."""
    role, state = item.split(" ", 1)
    if state == "empty":
        return "is empty" if role == "must" else "is not empty"
    return f"{'has' if role == 'must' else 'has no'} {_sort(state, role == 'must')}"


def _hurdle(item: str) -> str:
    role, state = item.split(" ", 1)
    if state == "empty":
        return "an empty square" if role == "must" else "a piece"
    return _sort(state, True) if role == "must" else f"what is no {_sort(state, False)}"


def _sort(state: str, article: bool) -> str:
    """A piece as its mover sees it: `a friend of its kind`, `an enemy, royal`."""
    noun, _, sort = state.partition(" ")
    name = {"friend": "friend", "foe": "enemy of a kind", "enemy": "enemy", "itself": "piece like itself"}[noun]
    told = name if not article else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
    if "same" in sort:
        told = told.removesuffix(" of a kind") + " of its kind"
    marks = [word for mark, word in (("+", "in state +"), ("-", "in state -"), ("^", "royal")) if mark in sort]
    return ", ".join([told, *marks])


def _vector(vector: Vector) -> str:
    return f"({','.join(map(str, vector))})"


def _number(number: int | None) -> str:
    return str(number) if number is None or number >= len(_NUMBERS) else _NUMBERS[number]


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
