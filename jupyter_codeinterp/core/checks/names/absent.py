"""Findings on names, attributes and arguments that do not exist. Code in the kernel may answer
anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec

from ...findings import Finding
from ..shared.kernel_report import LONGEST
from .wanted import Needs, Wanted

NAME = "Names"
MOST = 5


class _Missing(msgspec.Struct, frozen=True):
    """``number`` is that of what was wanted; ``at`` the place in its path."""

    number: int
    what: Literal["name", "attribute", "argument"]
    name: str
    near: str = ""
    at: int = 0


def question(needs: Needs) -> dict[str, Any]:
    wanted = [
        {"root": one.root, "module": one.module, "path": one.path, "keywords": one.keywords}
        for one in needs.wanted
    ]
    return {"wanted": wanted, "imports": needs.imports}


def findings(
    needs: Needs, answer: Any, is_private: Callable[[str], bool] = lambda name: False
) -> tuple[Finding, ...]:
    """None of an answer in another form. Private variables are not suggested."""
    try:
        told = msgspec.convert(answer, list[_Missing], strict=True)
    except (msgspec.ValidationError, RecursionError):
        return ()
    shown = (msgspec.structs.replace(one, near="") if is_private(one.near) else one for one in told)
    return tuple(_findings(needs, shown))[:MOST]


def _findings(needs: Needs, told: Iterable[_Missing]) -> Iterator[Finding]:
    for one in told:
        if 0 <= one.number < len(needs.wanted):
            wanted = needs.wanted[one.number]
            yield Finding(NAME, _sentence(wanted, one), wanted.place)


def _sentence(wanted: Wanted, missing: _Missing) -> str:
    name, near = missing.name[:LONGEST], missing.near[:LONGEST]
    if missing.what == "name":
        also = f"; `{near}` exists" if near else ""
        return f"Nothing defines `{name}`{also}."
    if missing.what == "attribute":
        owner = ".".join((wanted.root, *wanted.path[: max(missing.at, 0)]))
        also = f"; it has `{near}`" if near else ""
        return f"`{owner}` has no `{name}`{also}."
    also = f"; it takes `{near}`" if near else ""
    return f"`{wanted.text}` takes no argument `{name}`{also}."
