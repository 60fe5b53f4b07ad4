"""Restart, interrupt or change the kernel, after the person's decision."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ...approval import policy
from ...cells.lost import Lost, lost_variables
from ...errors import KernelError
from ...messages import ToolUse
from ...model_view.plain_text import cut
from ...ports import KernelControl
from ...turn.results import Result
from ...turn.turn import Turn, identity
from ...visible import visible_line
from ...wire.events import Draft, DraftWaiting, Event
from ..shared.base import Tool
from ..shared.drafting import CUT_OFF, DIFFERS, Drafting, decided, draft_of

NOT_AVAILABLE = "Not available here: you work inside of this kernel. Ask the person to do it."
ANOTHER = "The kernel was restarted or changed since you decided."
STILL_BUSY = "Interrupted, but the kernel is still busy. A restart ends what it runs."
_LONGEST_NAME = 100


class KernelAction(msgspec.Struct, frozen=True, kw_only=True):
    action: Annotated[
        Literal["status", "restart", "interrupt", "change"],
        Meta(description="status only looks: kernel, kernelspecs, packages for data work."),
    ]
    kernelspec: Annotated[
        str, Meta(description='For "change". A name that is not installed lists those that are.')
    ] = ""


async def _work(drafting: Drafting, call: ToolUse, arguments: KernelAction) -> AsyncIterator[Event]:
    turn = drafting.turn
    control = turn.kernel.control
    if arguments.action == "status":
        words = await _status(turn, control)
        drafting.step.results[call.id] = turn.results.make(
            call, "ok", title="Look at the kernel", quoted=turn.untrusted.shown(words)
        )
        return
    work = _KernelCall(drafting, call, arguments, control) if control is not None else None
    try:
        if not turn.allowed.changes:
            words = policy.refusal("kernel", turn.mode)
            drafting.step.results[call.id] = turn.results.not_run(
                call, words, KERNEL.label, "", summary=policy.refused(turn.mode)
            )
        elif work is None:
            raise KernelError("no_kernel", NOT_AVAILABLE)
        else:
            async for event in work.events():
                yield event
    except KernelError as error:
        drafting.step.results[call.id] = turn.results.make(
            call, "not_started", error.message, title=work.title if work else KERNEL.label
        )


async def _status(turn: Turn, control: KernelControl | None) -> str:
    info, state = await turn.kernel_info(), await turn.kernel.state()
    lines: list[str] = []
    if info is not None:
        ran = "" if state.cells_run is None else f", {state.cells_run} cells have run in it"
        does = "dead" if state.dead else "busy" if state.busy else "idle"
        lines.append(f"{info.language} {info.language_version}: {does}{ran}")
    with contextlib.suppress(KernelError):
        specs = await control.specs() if control is not None else {}
        lines += [f"kernelspec {_line(name)}: {_line(shown)}" for name, shown in specs.items()]
    for name, version in state.packages.items():
        lines.append(f"{_line(name)} {_line(version) or 'is not installed'}")
    return "\n".join(lines) or "The notebook has no kernel."


class _KernelCall:
    def __init__(
        self, drafting: Drafting, call: ToolUse, given: KernelAction, control: KernelControl
    ) -> None:
        self.title = {
            "restart": "Restart the kernel",
            "interrupt": "Interrupt the kernel",
            "change": "Change the kernel",
        }[given.action]
        self._turn = drafting.turn
        self._results = drafting.step.results
        self._call = call
        self._given = given
        self._control = control
        self._lost = Lost()

    async def events(self) -> AsyncIterator[Event]:
        turn = self._turn
        target = await self._target()
        why = ""
        while True:
            info = await turn.kernel_info()
            if self._given.action != "interrupt":
                self._lost = await lost_variables(turn)
            draft = await self._draft(target, why)
            yield DraftWaiting(draft)
            decision = await turn.clock.attend(turn.decisions.ask(draft))
            yield decided(draft, decision)
            if decision.action == "reject":
                self._results[self._call.id] = turn.results.not_run(
                    self._call, decision.reason, self.title, "", by=decision.by
                )
                return
            now = await turn.kernel_info()
            if decision.source != draft.source:
                why = DIFFERS
            elif (info and identity(info)) != (now and identity(now)):
                why = ANOTHER
            else:
                break
        # The result in case Stop comes meanwhile.
        self._results[self._call.id] = self._result("interrupted", CUT_OFF)
        self._results[self._call.id] = await self._carry_out()

    async def _target(self) -> str:
        """The display name of the kernel to change to; "" otherwise."""
        if self._given.action != "change":
            return ""
        specs = await self._control.specs()
        wanted = self._given.kernelspec
        if wanted not in specs:
            known = ", ".join(sorted(specs)) or "none"
            raise KernelError(
                "no_kernel", f"There is no kernelspec {wanted!r}. Installed: {known}."
            )
        name = _line(specs[wanted])
        self.title = f"Change the kernel to {name}"
        return name

    async def _draft(self, target: str, why: str) -> Draft:
        name = _line(await self._control.name()) or "The kernel"
        happens = {
            "restart": f"{name} restarts.",
            "interrupt": f"{name} stops what it runs now.",
            "change": f"{target} takes the place of {name}.",
        }[self._given.action]
        words = "\n".join(part for part in (happens, self._lost.will_be) if part)
        return draft_of(self._call, "kernel", self.title, words, why)

    async def _carry_out(self) -> Result:
        turn, control = self._turn, self._control
        if self._given.action == "interrupt":
            idle = await control.interrupt()
            return self._result("ok", "Interrupted; the kernel is idle." if idle else STILL_BUSY)
        if self._given.action == "restart":
            await control.restart()
        else:
            await control.change(self._given.kernelspec)
        info = await turn.kernel_info()
        # The result reports the new start, so that the next run does not repeat it.
        turn.kernel_start = identity(info) if info is not None else None
        done = "The kernel has restarted." if self._given.action == "restart" else "Changed."
        language = f" Its language is {info.language}." if info is not None else ""
        return self._result("ok", f"{done}{language} {self._lost.for_model}", self._lost)

    def _result(
        self, status: Literal["ok", "interrupted"], words: str, lost: Lost | None = None
    ) -> Result:
        summary = lost.are if lost is not None else words
        result = self._turn.results.make(
            self._call, status, words, title=self.title, summary=summary
        )
        if lost is None:
            return result
        done = msgspec.structs.replace(result.done, needed=lost.cells)
        return msgspec.structs.replace(result, done=done)


def _line(name: str) -> str:
    return cut(visible_line(name), _LONGEST_NAME)


KERNEL = Tool(
    "kernel",
    "Manage the kernel",
    "Look at the kernel; or restart, interrupt or change it if the person agrees: they always "
    "decide. Restart and change lose all variables.",
    KernelAction,
    effect="changes",
    work=_work,
)
