"""Hooks: functions of features that run after the agent's code, and after its answer.

Add one in a feature's ``hooks``. A hook that fails is logged and adds nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Union

import msgspec

from ...base.off_loop import off_loop
from ...wire.events import FiguresFound
from ...wire.findings import Finding, Place
from ...wire.messages import Message
from ...wire.ops import CellView, Output

log = logging.getLogger(__name__)


class CellCode(msgspec.Struct, frozen=True):
    """Code that has run. ``language`` is the name that the kernel reports; ``asked``: the person's
    message."""

    source: str
    language: str = "python"
    session_id: str = ""
    turn: int = 0
    asked: str = ""


class Fact(msgspec.Struct, frozen=True):
    """What the kernel observed in a run: values by name (``figures``). ``place`` is the place of
    the observed call in the source, if any."""

    kind: str
    place: Union[Place, None] = None
    figures: dict[str, Any] = {}


class CellOutputs(msgspec.Struct, frozen=True):
    """The outcome of a run. ``outputs`` are in nbformat. Only Python kernels report ``facts``,
    which leave out private variables."""

    outputs: tuple[Output, ...]
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class FinalAnswer:
    """The answer that ended a turn. ``texts``: its parts by block of the model's ``step``.
    ``cells``: the notebook's, without private ones. ``ran``: outputs of the cells that the
    conversation ran, by id, the latest first. ``messages``: the conversation with the model.
    ``scrub`` removes known keys from a text."""

    step: int
    question: str
    texts: Mapping[int, str]
    cells: tuple[CellView, ...] = ()
    ran: Mapping[str, tuple[Output, ...]] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    scrub: Callable[[str], str] = str


@dataclass(frozen=True)
class Hook:
    """``after_run`` gets each finished run of the agent's code, and finds nothing if all is well.
    ``after_answer`` gets the answer that ends a turn, and runs on the event loop."""

    after_run: Union[Callable[[CellCode, CellOutputs], Iterable[Finding]], None] = None
    after_answer: Union[Callable[[FinalAnswer], Awaitable[Sequence[FiguresFound]]], None] = None


MOST_FINDINGS = 1_000
"""Findings read from one hook."""


async def findings(hooks: Sequence[Hook], code: CellCode, outputs: CellOutputs) -> list[Finding]:
    """What all hooks find in a run."""
    found: list[Finding] = []
    for hook in hooks:
        if hook.after_run is not None:
            work = partial(_listed, hook.after_run, code, outputs)
            found += await off_loop(work, len(code.source), list)
    return found


def _listed(
    call: Callable[[CellCode, CellOutputs], Iterable[Finding]], code: CellCode, outputs: CellOutputs
) -> list[Finding]:
    return list(islice(call(code, outputs), MOST_FINDINGS))


async def figures(hooks: Sequence[Hook], answer: FinalAnswer) -> list[FiguresFound]:
    """Where the numbers of an answer are from, as all hooks find."""
    found: list[FiguresFound] = []
    for hook in hooks:
        if hook.after_answer is not None:
            try:
                found += await hook.after_answer(answer)
            except Exception:
                log.exception("A hook failed after an answer")
    return found
