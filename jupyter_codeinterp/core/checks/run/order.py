"""Numbers written as text that are sorted, sliced or compared as text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...findings import Finding
from ..shared.check import Check, SeenRun
from ..shared.reading import facts, listed, text, texts

NAME = "Order and text"
_IDENTIFIER = re.compile(
    r"(?:.*_)?(?:id|zip|zip_?code|postcode|postal_code|phone|ssn|isbn)", re.IGNORECASE
)
"""The order of identifiers is only that of a list."""


def read(run: SeenRun) -> Iterator[Finding]:
    for fact in facts(run, "text_order"):
        column, how = text(fact, "column"), text(fact, "how")
        named = f"`{column}`" if column else "The index"
        words = f"{named} has numbers written as text, {how} as text:"
        is_sorted_id = how == "sorted" and _IDENTIFIER.fullmatch(column)
        yield Finding(
            NAME,
            f"{words} {listed(texts(fact, 'examples'))}.",
            fact.place,
            audience="model" if is_sorted_id else "person",
        )


CHECK = Check(NAME, after_run=read)
