"""Rules that never apply: conditions that never hold, effects that never happen, actions that others come before."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from ggn_store.errors import Problem, did_you_mean, quote
from ggn_store.gdl.domains import attributes_set
from ggn_store.gdl.expressions import Attribute, Call, Expression, Index, Literal, Name, parts, start_of, text_of
from ggn_store.gdl.folding import UNKNOWN, KnownCase, KnownFunction
from ggn_store.gdl.problems import finding
from ggn_store.gdl.specification import Clause
from ggn_store.gdl.trials import Trials, TriedRule


def never_applied(trials: Trials, holding: Collection[str]) -> Iterator[Problem]:
    """Findings about conditions, effects and actions without use; raises TooManyTriesError.

    `holding` are the actions that can be done at all.
    """
    for name, rule in trials.rules.items():
        if name in holding:
            yield from _idle_effects(trials, rule)
            yield from _off_board(trials, rule)
        else:
            yield from _culprits(trials, rule)
    for name, rule in trials.rules.items():
        if name in trials.allowed and name in holding:
            yield from _shadow(trials, rule, holding)


def _culprits(trials: Trials, rule: TriedRule) -> Iterator[Problem]:
    alone = [each for each in rule.conditions if not _can_hold(trials, rule, [each])]
    for clause, _, _ in alone:
        message = f"this condition never holds{_hint(trials, clause.expression)}, so the action is never possible"
        yield finding("never-holds", message, clause.place, clause, start_of(clause.expression))
    if alone:
        return
    together = [*rule.conditions]
    for each in rule.conditions:
        fewer = [other for other in together if other is not each]
        if not _can_hold(trials, rule, fewer):
            together = fewer
    clause = together[-1][0]
    others = " and ".join(each.text for each, _, _ in together[:-1])
    message = f"this condition never holds together with {others}: the action is never possible"
    yield finding("never-holds", message, clause.place, clause, start_of(clause.expression))


def _can_hold(trials: Trials, rule: TriedRule, conditions: list[tuple[Clause, str, KnownFunction]]) -> bool:
    action = replace(rule.action, conditions=tuple(each[0] for each in conditions), effects=())
    part = TriedRule(action, tuple(conditions))
    return next(trials.cases(part, trials.possible(part)), None) is not None


def _hint(trials: Trials, condition: Expression) -> str:
    """Which value nothing ever has, where the condition asks for one."""
    for part in parts(condition):
        match part:
            case Call(name="eq", arguments=(Attribute(name=name), Literal(value=str(text)))):
                known = [
                    value
                    for (_, attribute), values in trials.domains.attributes.items()
                    if attribute == name
                    for value in values
                    if isinstance(value, str)
                ]
                if known and text not in known:
                    return f" (nothing ever has {name} {quote(text)}{did_you_mean(text, known, quote)})"
    return ""


def _idle_effects(trials: Trials, rule: TriedRule) -> Iterator[Problem]:
    """Effects under a condition that is false for every pair of places at which the action is possible."""
    changed: set[str] = set()
    for clause in rule.action.effects:
        match clause.expression:
            case Call(name="if", arguments=(condition, *_)):
                inner = [*parts(condition)]
                names = {part.name for part in inner if isinstance(part, Attribute)}
                is_plain = not any(isinstance(part, Index | Name) and _is_open(part) for part in inner)
                if is_plain and not names & changed and not _may_happen(trials, rule, condition):
                    message = f"this effect never happens: {text_of(condition)} never holds here"
                    yield finding("never-holds", message, clause.place, clause, start_of(condition))
        changed |= attributes_set(clause.expression)


def _off_board(trials: Trials, rule: TriedRule) -> Iterator[Problem]:
    """Effects on `board[...]` that are off the board for moves that the action allows: they do nothing there."""
    changed: set[str] = set()
    for clause in rule.action.effects:
        for key, around in _places_set(clause.expression, ()):
            names = {part.name for each in (key, *around) for part in parts(each) if isinstance(part, Attribute)}
            case = None if names & changed else _case_off_board(trials, rule, key, around)
            if case is not None:
                kind, move = case.entity.schema, f"{case.start.label} to {case.target.label}"
                message = (
                    f"board[{text_of(key)}] is off the board for a {kind} from {move}: nothing is set there, and an "
                    "entity that has left its place is gone"
                )
                yield finding("off-board", message, clause.place, clause, start_of(key))
        changed |= attributes_set(clause.expression)


def _places_set(
    effect: Expression, around: tuple[Expression, ...]
) -> Iterator[tuple[Expression, tuple[Expression, ...]]]:
    """The places other than start and target that an effect sets, with the conditions that hold there."""
    match effect:
        case Call(name="set", arguments=(Index(key=Call() as key), _)):
            yield key, around
        case Call(name="if", arguments=(condition, then, *otherwise)):
            yield from _places_set(then, (*around, condition))
            for each in otherwise:
                yield from _places_set(each, (*around, Call("not", (condition,), start_of(condition))))


def _case_off_board(
    trials: Trials, rule: TriedRule, key: Expression, around: tuple[Expression, ...]
) -> KnownCase | None:
    """A case of the action in which a key is known to be no place, while all conditions are known to hold."""
    where, conditions = trials.folding.function(key), [trials.folding.function(each) for each in around]
    for case in trials.cases(rule, trials.pairs(rule)):
        if where(case) is None and all(condition(case) is True for condition in conditions):
            return case
    return None


def _may_happen(trials: Trials, rule: TriedRule, condition: Expression) -> bool:
    function = trials.folding.function(condition)
    for kind, pairs in trials.pairs(rule).items():
        for start, target in pairs:
            value = function(KnownCase(start, target, kind))
            if value is UNKNOWN or value is True:
                return True
    return False


def _shadow(trials: Trials, rule: TriedRule, holding: Collection[str]) -> Iterator[Problem]:
    """Whether in each phase that allows an action, those before it take all of its moves."""
    shadows: dict[str, None] = {}
    for phase in trials.specification.phases:
        if rule.action.name not in phase.allowed_actions:
            continue
        before = phase.allowed_actions[: phase.allowed_actions.index(rule.action.name)]
        earlier = [trials.rules[name] for name in before if name in holding and not trials.rules[name].action.optional]
        # From the hand nothing comes first on the board, and the other way round.
        earlier = [other for other in earlier if other.action.from_hand == rule.action.from_hand]
        taking = _taking(trials, rule, earlier)
        if not taking:
            return
        shadows |= dict.fromkeys(taking)
    names = " and ".join(shadows)
    message = f"the action {rule.action.name} is never chosen: wherever it is possible, {names} comes first"
    yield finding("shadowed-action", message, rule.action.place)


def _taking(trials: Trials, rule: TriedRule, earlier: list[TriedRule]) -> list[str]:
    """The earlier rules that together take every case of a rule; none where a case is left."""
    texts = {text for _, text, _ in rule.conditions}
    rests = []
    for other in earlier:
        rest = [function for _, text, function in other.conditions if text not in texts]
        if not rest:
            return [other.action.name]
        if not trials.pairs(rule).keys().isdisjoint(trials.pairs(other)):
            rests.append((other.action.name, rest))
    taking: dict[str, None] = {}
    if not rests:
        return []
    for case in trials.cases(rule, trials.pairs(rule)):
        trials.count(sum(len(rest) for _, rest in rests))
        name = next((name for name, rest in rests if all(function(case) is True for function in rest)), None)
        if name is None:
            return []
        taking[name] = None
    return [*taking]


def _is_open(part: Index | Name) -> bool:
    return isinstance(part, Index) or part.text in ("board", "state")
