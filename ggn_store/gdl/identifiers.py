"""Kinds of entities -> piece identifiers: from the presentation, a map of the caller, or the names of the kinds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ggn_store.errors import NotationError, Problem, offer, printable, quote
from ggn_store.gdl.ground import ENTITY, Grounder
from ggn_store.gdl.kinds import Kind, text
from ggn_store.gdl.problems import problem
from ggn_store.gdl.specification import AssetProfile, Specification
from ggn_store.gdl.world import World
from ggn_store.notation import qpi

# Profiles of the presentation: one has the tokens of pieces, the other what they are called.
GGN: Final = "ggn"
NAMES: Final = "names"
_TOKEN: Final = re.compile(qpi.EPIN_PATTERN, re.ASCII)
_STYLE: Final = re.compile("[A-Z][A-Z0-9]*", re.ASCII)
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# How kinds that share a letter are told apart, the first of them by nothing.
_MARKS: Final = (("", ""), ("+", ""), ("-", ""), ("", "'"), ("+", "'"), ("-", "'"))


def style_of(title: str, style: str | None = None) -> str:
    """The style of all pieces: the one that is wished for, else the first word of the title in upper case.

    Raises NotationError for a wish that is no style.
    """
    if style is not None:
        if not _STYLE.fullmatch(style.upper()):
            raise NotationError(f"{quote(style)} is not a style: a letter, then letters and digits, such as CHESS")
        return style.upper()
    for word in title.upper().split():
        letters = re.sub("[^A-Z0-9]", "", word).lstrip("0123456789")
        if letters:
            return letters
    return "GAME"


@dataclass(frozen=True, slots=True)
class PieceWish:
    """What a caller calls some kinds: `king=K`, `king,moved=true=+K`."""

    words: tuple[str, ...]
    attributes: Mapping[str, str]
    token: str

    def matches(self, kind: Kind) -> bool:
        """Whether the kind is one of those: words are its type or a text among its attributes, or its owner."""
        known = {kind.schema, kind.owner, *(value for value in kind.attributes.values() if isinstance(value, str))}
        attributes = {"owner": kind.owner, "schema": kind.schema}
        attributes |= {name: text(value) for name, value in kind.attributes.items()}
        return known.issuperset(self.words) and self.attributes.items() <= attributes.items()

    @property
    def weight(self) -> int:
        """The more is asked for, the more it counts."""
        return len(self.words) + len(self.attributes)


def read_wish(kind: str, code: str) -> PieceWish:
    """The wish that `--piece-map KIND=CODE` states; raises NotationError for a code that is no piece."""
    token = code.partition(":")[2] or code
    if not _TOKEN.fullmatch(token):
        raise NotationError(f"{quote(code)} is not a code of pieces: a letter such as K, +K, -K, K^ or K'")
    words, attributes = [], {}
    for part in kind.split(","):
        name, equals, value = part.strip().partition("=")
        if not name:
            raise NotationError(f"{quote(kind)} is not a kind of piece: a name such as king, or king,moved=true")
        if equals:
            attributes[name.strip()] = value.strip()
        else:
            words.append(name)
    return PieceWish(tuple(words), attributes, token)


class Identifiers:
    """Gives each kind an identifier; `problems` holds what stands in the way."""

    def __init__(self, specification: Specification, world: World, style: str) -> None:
        self._specification = specification
        self._world = world
        self._kinds = world.kinds
        self._style = style
        self._first = specification.players[0].name
        self.problems: list[Problem] = []

    def of_all(self, wishes: Sequence[PieceWish] = ()) -> list[str]:
        """The identifier of each kind, in their order."""
        wished = self._wished(wishes)
        tokens = self._ggn()
        if tokens is None:
            tokens = next((found for profile in self._specification.assets if (found := self._letters(profile))), None)
        if tokens is None:
            tokens = self._own(wished)
        found = [
            self._identifier(kind, wished.get(number) or tokens[number]) for number, kind in enumerate(self._kinds)
        ]
        taken: dict[str, Kind] = {}
        for identifier, kind in zip(found, self._kinds, strict=True):
            if identifier in taken and not self.problems:
                raise NotationError(
                    f"{printable(str(taken[identifier]))} and {printable(str(kind))} would both be {identifier}: give "
                    "one of them another code, as --piece-map KIND=CODE"
                )
            taken[identifier] = kind
        return found

    def names(self) -> list[str]:
        """What each kind is called, in words: by its asset in the profile `names`, or by its first text."""
        profile = next((each for each in self._specification.assets if each.name == NAMES), None)
        assets = [None] * len(self._kinds) if profile is None else self._assets(profile)
        found = [asset or _name(kind) for kind, asset in zip(self._kinds, assets, strict=True)]
        return [name.replace("_", " ").lower() for name in found]

    def _identifier(self, kind: Kind, token: str) -> str:
        is_first = kind.owner == self._first
        return f"{self._style}:{token.upper()}" if is_first else f"{self._style.lower()}:{token.lower()}"

    def _wished(self, wishes: Sequence[PieceWish]) -> dict[int, str]:
        found = {}
        for wish in wishes:
            if not any(map(wish.matches, self._kinds)):
                told = ",".join([*wish.words, *(f"{name}={value}" for name, value in wish.attributes.items())])
                raise NotationError(
                    f"no kind of piece is called {quote(told)}; there are {offer([str(kind) for kind in self._kinds])}"
                )
        for number, kind in enumerate(self._kinds):
            matching = [wish for wish in wishes if wish.matches(kind)]
            if matching:
                found[number] = max(matching, key=lambda wish: wish.weight).token
        return found

    def _assets(self, profile: AssetProfile) -> list[str | None]:
        """The asset of each kind: the first whose condition holds, None where none does."""
        grounder = Grounder(self._world)
        codes = [(grounder.code(asset.condition.expression), asset.asset) for asset in profile.assets]
        found: list[str | None] = []
        for number in range(len(self._kinds)):
            self._world.begin(number)
            holding = (asset for code, asset in codes if code.needs <= {ENTITY} and code.run(self._world) is True)
            found.append(next(holding, None))
        return found

    def _ggn(self) -> list[str] | None:
        """The tokens that the profile `ggn` states, which must state them for every kind."""
        profile = next((each for each in self._specification.assets if each.name == GGN), None)
        if profile is None:
            return None
        tokens = []
        taken: dict[str, Kind] = {}
        for kind, asset in zip(self._kinds, self._assets(profile), strict=True):
            token = "" if asset is None else asset.partition(":")[2] or asset
            if not _TOKEN.fullmatch(token):
                said = "has no asset" if asset is None else f"has the asset {quote(asset)}, which is no piece"
                self._complain(profile, f"{kind} {said} in the profile {GGN}")
            elif self._identifier(kind, token).partition(":")[2] != token:
                self._complain(profile, f"{kind} has the asset {quote(asset)}: upper case is the first player's")
            elif token in taken:
                self._complain(profile, f"{taken[token]} and {kind} have the same asset {quote(asset)}")
            taken[token] = kind
            tokens.append(token)
        return tokens

    def _complain(self, profile: AssetProfile, message: str) -> None:
        allowed = "a piece such as K, +K, -K, K^ or K', upper case for the first player, lower case for the second"
        self.problems.append(problem("presentation", profile.place, message, allowed=allowed))

    def _letters(self, profile: AssetProfile) -> list[str] | None:
        """The single letters that a profile shows the kinds with, where their case is the player."""
        tokens = []
        for kind, asset in zip(self._kinds, self._assets(profile), strict=True):
            if asset is None or len(asset) != 1 or asset.upper() not in _LETTERS:
                return None
            if asset.isupper() != (kind.owner == self._first):
                return None
            tokens.append(asset)
        return tokens if len(set(tokens)) == len(tokens) else None

    def _own(self, wished: Mapping[int, str]) -> list[str]:
        """Letters from the names of the kinds; kinds of one name are told apart by states."""
        letters: dict[str, str] = {}
        used = {token.strip("+-^'").upper() for token in wished.values()}
        for kind in self._kinds:
            name = _name(kind)
            if name not in letters:
                free = [each for each in name.upper() + _LETTERS if each in _LETTERS and each not in used]
                if not free:
                    raise NotationError(
                        "there are more kinds of pieces than letters: name them in the profile ggn of the presentation"
                    )
                letters[name] = free[0]
                used.add(free[0])
        counts: dict[tuple[str, str], int] = {}
        tokens = []
        for kind in self._kinds:
            name = _name(kind)
            number = counts.get((kind.owner, name), 0)
            counts[kind.owner, name] = number + 1
            if number >= len(_MARKS):
                raise NotationError(
                    f"there are more than {len(_MARKS)} kinds of pieces that are called {quote(name)}: name them in "
                    "the profile ggn of the presentation, or with --piece-map KIND=CODE"
                )
            before, after = _MARKS[number]
            tokens.append(f"{before}{letters[name]}{after}")
        return tokens


def _name(kind: Kind) -> str:
    """What a kind is called: its first attribute that is text, else its type."""
    return next((value for value in kind.attributes.values() if isinstance(value, str)), kind.schema)
