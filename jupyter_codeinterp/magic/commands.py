"""``%ai fix``, ``%ai models`` and the others, by name."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Union

from IPython.core.completer import SimpleCompletion, context_matcher

from .asking.options import FORMATS, OPTIONS, UsageProblem

if TYPE_CHECKING:
    from .asking.earlier import Earlier
    from .turn.assistant import Assistant


class Host(Protocol):
    """The part of the extension that commands use."""

    earlier: Earlier

    @property
    def assistant(self) -> Assistant: ...

    @property
    def is_loaded(self) -> bool:
        """Whether ``assistant`` exists already."""


Prompt = Callable[[Host], tuple[str, tuple[Any, ...], bool]]
"""Makes a prompt: its text, additional cells for the model, and whether nothing may run."""


@dataclass(frozen=True)
class Command:
    """A command without a model. ``work`` gets the rest of the line."""

    work: Callable[[Host, str], None]


def _fix(host: Host) -> tuple[str, tuple[Any, ...], bool]:
    from ..wire.ops import RanCode

    found = host.earlier.last_error()
    if found is None:
        raise UsageProblem("No cell has failed. Nothing to fix.")
    number, error = found
    name = error["ename"] if error["ename"].isidentifier() else "an error"
    known = {cell.cell_id for cell in host.earlier.cells()}
    cell_id = f"in-{number}"
    extra: tuple[Any, ...] = ()
    if cell_id not in known:
        cell_id = "last-error"
        extra = (RanCode(cell_id, "code", "", (error,)),)
    text = (
        f"The cell {cell_id} failed with {name}. Find the cause, and write a corrected cell. "
        "Say in one sentence what was wrong."
    )
    return text, extra, False


def _explain(host: Host) -> tuple[str, tuple[Any, ...], bool]:
    cells = host.earlier.cells()
    if not cells:
        raise UsageProblem("No cell has run before this one. Nothing to explain.")
    text = f"Explain the cell {cells[-1].cell_id}: what it does and what it resulted in."
    return text, (), True


def _models(host: Host, rest: str) -> None:
    _need_nothing("models", rest)
    assistant = host.assistant
    for info in assistant.list_models():
        mark = "*" if info.id == assistant.model else " "
        name = "" if info.name == info.id else f"  {info.name}"
        print(f"{mark} {info.id}{name}")


def _model(host: Host, rest: str) -> None:
    assistant = host.assistant
    if len(rest.split()) > 1:
        raise UsageProblem("%ai model takes one name: %ai model NAME.")
    if rest:
        assistant.choose(rest)
    print(f"The model is {assistant.model}.")


def _usage(host: Host, rest: str) -> None:
    _need_nothing("usage", rest)
    changed = host.assistant.usage if host.is_loaded else None
    if changed is None:
        print("This conversation is still empty.")
        return
    from ..wire.events import Cost  # The interpreter is loaded by now.

    usage = changed.usage
    parts = [f"{usage.total_input:,} tokens read", f"{usage.output_tokens:,} written"]
    parts.append(str(Cost(changed.cost, changed.local)))
    if changed.context_known:
        parts.append(f"{changed.context_share:.0%} of the model's context used")
    print(", ".join(parts) + ".")


def _stop(host: Host, rest: str) -> None:
    _need_nothing("stop", rest)
    stopped = host.is_loaded and host.assistant.give_up()
    print("Stopped." if stopped else "Nothing is waiting.")


def _reset(host: Host, rest: str) -> None:
    _need_nothing("reset", rest)
    had = host.is_loaded and host.assistant.reset()
    print("Conversation forgotten." if had else "No conversation to forget.")


def _help(host: Host, rest: str) -> None:
    lines = []
    for name, words in OPTIONS.items():
        value, _, meaning = words.rpartition("  ")
        lines.append(f"  {f'{name} {value}':30} {meaning}")
    print(HELP.format(options="\n".join(lines)))


def _need_nothing(name: str, rest: str) -> None:
    if rest:
        raise UsageProblem(f"%ai {name} takes no argument, but got “{rest}”.")


COMMANDS: dict[str, Union[Command, Prompt]] = {
    "fix": _fix,
    "explain": _explain,
    "models": Command(_models),
    "model": Command(_model),
    "usage": Command(_usage),
    "stop": Command(_stop),
    "reset": Command(_reset),
    "help": Command(_help),
}
HELP = """\
%%ai [options], with the task below it. {{name}} inserts the value of a variable.
{options}

%ai QUESTION     ask in one line, with the same options
%ai fix          fix the last error
%ai explain      explain the last cell
%ai models       list the models
%ai model NAME   choose one for this process
%ai usage        tokens and cost so far
%ai stop         stop a prompt that is waiting for a decision
%ai reset        forget the conversation"""


# -------------------------------------------------------------------------------------------------
# Tab completion after ``%ai`` and ``%%ai``: commands, options, forms and models.

MODELS = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")
"""Suggested without a request; ``%ai models`` lists all."""


def complete(line: str) -> list[str]:
    """Completions for the end of the line."""
    words = line.replace("=", " ").split(" ")
    is_cell = words[0].startswith("%%")
    before = words[-2] if len(words) > 1 else ""
    if before in ("-m", "--model") or words[1:-1] == ["model"]:
        return list(MODELS)
    if before == "--as":
        return list(FORMATS)
    if before in ("--max-steps", "--store"):
        return []
    if words[-1].startswith("-") or is_cell:
        return list(OPTIONS)
    return list(COMMANDS) if len(words) == 2 else []


def matcher(names: Collection[str]) -> Any:
    """IPython's matcher for the magics ``names``. In their line, nothing else is completed: it
    holds no Python."""

    @context_matcher()  # type: ignore[untyped-decorator]
    def match(context: Any) -> dict[str, Any]:
        line = context.text_until_cursor.split("\n")[-1]
        first = line.split(" ")[0]
        if " " not in line or first.lstrip("%") not in names or not first.startswith("%"):
            return {"completions": []}
        found = [one for one in complete(line) if one.startswith(context.token)]
        return {"completions": [SimpleCompletion(one) for one in found], "suppress": True}

    return match
