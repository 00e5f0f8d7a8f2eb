"""A merge of three documents by dictionaries alone."""

from __future__ import annotations

from typing import Any

from tests.support.edits import Draft, Fields, Plain, fields_of, plain


def expected_merge(base: Draft, ours: Draft, theirs: Draft) -> tuple[Plain, Fields, set[tuple[str, ...]]]:
    """Entries, fields and the paths of conflicts, by dictionaries alone."""
    conflicts: set[tuple[str, ...]] = set()

    def three(path: tuple[str, ...], old: Any, left: Any, right: Any) -> Any:
        if left != old and right != old and left != right:
            conflicts.add(path)
            return None
        return left if left != old else right

    sides = [plain(side) for side in (base, ours, theirs)]
    kept: Plain = {}
    for entry in {*sides[1], *sides[2]}:
        value = three(entry, *(side.get(entry) for side in sides))
        if value is not None:
            kept[entry] = value
    is_clear = not conflicts
    texts = [fields_of(side) for side in (base, ours, theirs)]
    fields = {name: three((name,), *(text.get(name) for text in texts)) for name in {**texts[1], **texts[2]}}
    definitions = [text.get("definition") for text in texts]
    if fields.get("definition") is not None and len(set(definitions)) > 1:
        generated = [
            side for side, text in zip(sides[1:], definitions[1:], strict=True) if text == fields["definition"]
        ]
        if not is_clear or kept not in generated:
            conflicts.add(("definition",))
    if not kept and is_clear:
        conflicts.add(())
    return kept, {name: text for name, text in fields.items() if text is not None}, conflicts
