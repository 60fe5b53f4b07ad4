"""The table, with what made it, for people and for docs/escapes.md."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from jupyter_codeinterp.sandbox.walls import landlock
from jupyter_codeinterp.sandbox.walls.names import BUBBLEWRAP, LANDLOCK
from scripts.documents import made_by, renew
from scripts.tables import table

from .attempt import Control
from .running import Result

DOCUMENT = Path("docs/escapes.md")
COMMAND = "scripts/escape"
PACKAGES = ("jupyter_client", "ipykernel")
HELD, OUT = "held", "**not held**"
Others = Mapping[str, str]
"""By attempt, what another user's run found."""


def read(path: Path | None) -> Others:
    if path is None:
        return {}
    kept: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return kept


def keep(results: Sequence[Result], path: Path) -> None:
    path.write_text(json.dumps({_key(one): _held(one) for one in results}), encoding="utf-8")


def markdown(results: Sequence[Result], others: Others, wall: str = BUBBLEWRAP) -> str:
    mine, other = ("root", "a user") if os.getuid() == 0 else ("a user", "root")
    users = (mine, other) if others else (mine,)
    facts = [f"Landlock {landlock.version()}"] if wall == LANDLOCK else []
    parts = [made_by(_command(wall), facts, PACKAGES)]
    for area, those in groupby(results, key=lambda one: one.area):
        rows = [
            (
                _words(one.attempt.name),
                *(_held(one), others.get(_key(one), "not tried"))[: len(users)],
                _compared(one),
            )
            for one in those
        ]
        header = ("attempt", *(f"as {user}" for user in users), "outside of a sandbox")
        parts += [f"**{area.capitalize()}**", table([header, *rows])]
    return "\n\n".join(parts)


def write(text: str, wall: str = BUBBLEWRAP) -> None:
    renew(DOCUMENT, _command(wall), text)


def _command(wall: str) -> str:
    return COMMAND if wall == BUBBLEWRAP else f"{COMMAND} --wall {wall}"


def _key(one: Result) -> str:
    return f"{one.area}: {one.attempt.name}"


def _words(name: str) -> str:
    return name.replace("|", "\\|")


def _held(one: Result) -> str:
    return OUT if one.got_out else HELD


def _compared(one: Result) -> str:
    if one.outside is None:
        return "root only" if one.attempt.control is Control.ROOT else "not tried"
    if not one.outside:
        return "fails here, too"
    return "succeeds for root" if one.attempt.control is Control.ROOT else "succeeds"
