"""Checks all expressions of a specification."""

from __future__ import annotations

import contextlib

from ggn_store.gdl.language import ENTITY
from ggn_store.gdl.section_reader import SectionReader
from ggn_store.gdl.types.effects import Effects
from ggn_store.gdl.types.remarks import Remarks
from ggn_store.gdl.types.typed import Uses
from ggn_store.gdl.types.values import Values
from ggn_store.limits import TooManyError


def check(reader: SectionReader) -> Uses:
    """Check all conditions and effects, and the conditions of assets; those of the end are the host's.

    What is wrong goes to the reader's complaints; what expressions read and write is given.
    """
    uses = Uses()
    with contextlib.suppress(TooManyError):
        _check(reader, uses)
    return uses


def _check(reader: SectionReader, uses: Uses) -> None:
    draft = reader.draft
    remarks = Remarks(reader)
    values = Values(draft, uses, remarks)
    effects = Effects(draft, uses, remarks, values)
    for action in draft.actions:
        with values.assuming(*(condition.expression for condition in action.conditions)):
            for condition in action.conditions:
                remarks.about(condition)
                values.condition(condition.expression)
            for effect in action.effects:
                remarks.about(effect)
                effects.check(effect.expression)
    values.names = {"entity": ENTITY}
    for profile in draft.assets:
        for asset in profile.assets:
            remarks.about(asset.condition)
            with values.assuming(asset.condition.expression):
                values.condition(asset.condition.expression)
