"""The table, with what made it, for people and for docs/attacks.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from scripts.documents import cores, made_by, renew
from scripts.tables import table

from .results import Attack

DOCUMENT = Path("docs/attacks.md")
COMMAND = "scripts/attack"
PACKAGES = ("jupyterlab", "jupyter_server", "ipykernel")
HEADER = ("attack", "by", "times", "held")
_CASE = re.compile(r": .*")


def markdown(attacks: Sequence[Attack], seconds: float) -> str:
    took = f"{seconds / 60:.0f} minutes"
    parts = [made_by(COMMAND, [took, cores()], PACKAGES)]
    for area, those in groupby(sorted(attacks, key=_order), key=lambda attack: attack.area):
        parts += [f"**{area.capitalize()}**", table([HEADER, *_rows(those)])]
    return "\n\n".join(parts)


def _order(attack: Attack) -> tuple[str, bool]:
    return attack.area, attack.browser


def _rows(attacks: Iterable[Attack]) -> list[tuple[str, ...]]:
    """A row for each attack; the cases of one that is tried in many are counted."""
    kinds: dict[tuple[str, bool], list[Attack]] = {}
    for attack in attacks:
        kinds.setdefault((_CASE.sub("", attack.name), attack.browser), []).append(attack)
    return [
        (
            name.replace("|", "\\|"),
            "browser" if browser else "raw client",
            str(len(those)),
            _held(those),
        )
        for (name, browser), those in kinds.items()
    ]


def _held(attacks: Sequence[Attack]) -> str:
    through = [attack.name for attack in attacks if not attack.held]
    return f"**no** ({', '.join(through)})" if through else "yes"


def write(attacks: Sequence[Attack], seconds: float) -> None:
    renew(DOCUMENT, COMMAND, markdown(attacks, seconds))
