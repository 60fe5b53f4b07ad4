"""Known key values, kept out of everything that is sent to a model, journalled or logged."""

from __future__ import annotations

import json

REMOVED = "[key removed]"
SHORTEST = 8
"""Characters. Anything shorter is no key, and would be found in ordinary words."""


class Secrets:
    """Replaces known values by exact match, as they are and as JSON writes them."""

    def __init__(self) -> None:
        self._forms: list[str] = []

    def add(self, value: str) -> None:
        """Keep ``value`` out from now on. Space around it does not count."""
        value = value.strip()
        if len(value) < SHORTEST:
            return
        written = (json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))
        forms = {*self._forms, value, *written}
        # The longest first: one key may be the beginning of another.
        self._forms = sorted(forms, key=len, reverse=True)

    def scrub(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, REMOVED)
        return text
