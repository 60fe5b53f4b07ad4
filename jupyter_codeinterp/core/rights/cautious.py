"""What asks a person in every mode once data has spoken to the model. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ..labels import WORDS, Kind, Label

ASKS: frozenset[Kind] = frozenset(
    (
        *("unreadable", "installs", "processes", "network"),
        *("deletes", "writes", "reads_outside"),
    )
)
"""All that may reach beyond the notebook and its variables."""
NOTICE = (
    "Data that the model read contains “{sign}”, which reads like an instruction to it. This code "
    "may reach beyond the notebook ({words}), so it asks first."
)
_ADDRESSES = ("://", "www.")


def notice(sign: str, labels: Iterable[Label], source: str, more: bool = False) -> str:
    """Why code asks after data with ``sign``; "" if it does not. ``more``: a notice says that the
    code runs or shows something that is not in it."""
    kinds = {label.kind for label in labels}
    words = [WORDS[kind] for kind in WORDS if kind in kinds & ASKS]
    if any(address in source for address in _ADDRESSES) and "network" not in kinds:
        words.append("an address")
    if more and not words:
        words.append("see below")
    return NOTICE.format(sign=sign, words=", ".join(words)) if sign and words else ""
