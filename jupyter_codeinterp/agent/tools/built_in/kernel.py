"""Restart, interrupt or change the kernel, after the person's decision."""

from __future__ import annotations

import contextlib
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ....base.errors import KernelError
from ....base.sentences import Sentence, together
from ....base.visible import visible_line
from ....run.turn.turn import Turn, identity
from ....view.plain_text import cut
from ....wire.messages import ToolUse
from ....wire.ports import KernelControl
from ..shared.base import Tool
from ..shared.step import CUT_OFF, DIFFERS, Step, confirm, draft_of, is_refused

ANOTHER = Sentence("The kernel was restarted or changed since you decided.")
INTERRUPTED = Sentence("Interrupted; the kernel is idle.")
ALL_GONE = Sentence("All variables will be gone.")
GONE = Sentence("All variables are gone.")
DEFINE_AGAIN = "To define a variable again, run its cell with run_cells, from the top down."
STILL_BUSY = Sentence("Interrupted, but the kernel is still busy. A restart ends what it runs.")
NO_SPEC = Sentence("There is no kernelspec {name}. Installed: {known}.")
_LONGEST_NAME = 100
_TITLES = {
    "restart": Sentence("Restart the kernel"),
    "interrupt": Sentence("Interrupt the kernel"),
    "change": Sentence("Change the kernel"),
}


class KernelAction(msgspec.Struct, frozen=True, kw_only=True):
    action: Annotated[
        Literal["status", "restart", "interrupt", "change"],
        Meta(description="status only looks: kernel, kernelspecs, packages for data work."),
    ]
    kernelspec: Annotated[
        str, Meta(description='For "change". A name that is not installed lists those that are.')
    ] = ""


async def _work(step: Step, call: ToolUse, given: KernelAction) -> None:
    turn, control = step.turn, step.turn.kernel.control
    if given.action == "status":
        words = await _status(turn, control)
        step.results[call.id] = turn.results.make(
            call, "ok", title=Sentence("Look at the kernel"), quoted=turn.untrusted.shown(words)
        )
    elif not is_refused(step, call):
        title, other = _TITLES[given.action], ""
        try:
            if given.action == "change":
                other = await _known_kernel(control, given.kernelspec)
                title = Sentence("Change the kernel to {name}", name=other)
            await _ask_and_do(step, call, given, control, title, other)
        except KernelError as error:
            step.results[call.id] = turn.results.make(
                call, "not_started", error.message, title=title
            )


async def _status(turn: Turn, control: KernelControl) -> str:
    info, state = await turn.kernel_info(), await turn.kernel.state()
    lines: list[str] = []
    if info is not None:
        ran = "" if state.cells_run is None else f", {state.cells_run} cells have run in it"
        does = "dead" if state.dead else "busy" if state.busy else "idle"
        lines.append(f"{info.language} {info.language_version}: {does}{ran}")
    with contextlib.suppress(KernelError):
        specs = await control.specs()
        lines += [f"kernelspec {_line(name)}: {_line(shown)}" for name, shown in specs.items()]
    for name, version in state.packages.items():
        lines.append(f"{_line(name)} {_line(version) or 'is not installed'}")
    return "\n".join(lines) or "The notebook has no kernel."


async def _known_kernel(control: KernelControl, wanted: str) -> str:
    """The display name of a kernelspec. Raises KernelError if it is not installed."""
    specs = await control.specs()
    if wanted not in specs:
        known = ", ".join(sorted(specs)) or "none"
        raise KernelError("no_kernel", NO_SPEC, name=repr(wanted), known=known)
    return _line(specs[wanted])


async def _ask_and_do(
    step: Step,
    call: ToolUse,
    given: KernelAction,
    control: KernelControl,
    title: Sentence,
    other: str,
) -> None:
    """``other``: the name of the kernel to change to. Raises KernelError."""
    turn, results, why = step.turn, step.turn.results, Sentence()
    while True:
        info = await turn.kernel_info()
        name = _line(await control.name()) or Sentence("The kernel")
        happens = {
            "restart": Sentence("{name} restarts.", name=name),
            "interrupt": Sentence("{name} stops what it runs now.", name=name),
            "change": Sentence("{other} takes the place of {name}.", other=other, name=name),
        }[given.action]
        lost = "" if given.action == "interrupt" else ALL_GONE
        words = together(happens, lost, between="\n")
        draft = draft_of(call, "kernel", title, words, why)
        decision = await confirm(step, call, draft)
        if decision is None:
            return
        now = await turn.kernel_info()
        if decision.source != draft.source:
            why = DIFFERS
        elif (info and identity(info)) != (now and identity(now)):
            why = ANOTHER
        else:
            break
    # The result in case Stop comes meanwhile.
    step.results[call.id] = results.make(call, "interrupted", CUT_OFF, title=title, summary=CUT_OFF)
    if given.action == "interrupt":
        ended = INTERRUPTED if await control.interrupt() else STILL_BUSY
        step.results[call.id] = results.make(call, "ok", ended, title=title, summary=ended)
        return
    told = f"{await _start_anew(turn, control, given)} {GONE} {DEFINE_AGAIN}"
    step.results[call.id] = results.make(call, "ok", told, title=title, summary=GONE)


async def _start_anew(turn: Turn, control: KernelControl, given: KernelAction) -> str:
    """Restart or change the kernel. Returns words for the model."""
    if given.action == "restart":
        await control.restart()
    else:
        await control.change(given.kernelspec)
    info = await turn.kernel_info()
    # This result reports the new start, so the next run need not.
    turn.kernel_start = identity(info) if info is not None else None
    done = "The kernel has restarted." if given.action == "restart" else "Changed."
    return f"{done} Its language is {info.language}." if info is not None else done


def _line(name: str) -> str:
    return cut(visible_line(name), _LONGEST_NAME)


KERNEL = Tool(
    "kernel",
    Sentence("Manage the kernel"),
    "Look at the kernel; or restart, interrupt or change it if the person agrees: they always "
    "decide. Restart and change lose all variables.",
    KernelAction,
    effect="changes",
    work=_work,
    action="kernel",
)
