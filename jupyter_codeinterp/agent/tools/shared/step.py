"""One step of the model: its answer as it comes, and the cards, drafts and results of its calls.

Tools get the step and their call. A failed tool is a result for the model with ``is_error``; an
exception here is a bug or the end of the turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ....base.sentences import Sentence, as_it_is
from ....run.approval import policy
from ....run.approval.decisions import Decision, new_nonce
from ....run.job import ACTIONS, CellJob, Kind
from ....run.turn.meter import CallUsage
from ....run.turn.notebook import NewCellPlace
from ....run.turn.results import NONE, Result, noted
from ....run.turn.turn import Turn, new_cell_id
from ....wire.events import Draft, DraftDecided, DraftWaiting, ToolStarted
from ....wire.messages import ToolUse
from ....wire.ports import ModelDone
from .arguments import so_far
from .base import Tool, ToolRegistry
from .titles import title_of, title_so_far

AFTER_A_FAILURE = Sentence(
    "An earlier call of the same reply did not succeed, so this one was not started. Check "
    "that result first."
)
CUT_OFF = Sentence("The turn ended while this was done. It may have had effects.")
DIFFERS = Sentence("The decision was about something else. Decide again.")


@dataclass(eq=False)
class Step:
    turn: Turn
    registry: ToolRegistry

    # The answer.
    number: int = 0
    reply: ModelDone | None = None
    """The whole answer, until the conversation has it."""
    texts: dict[int, str] = field(default_factory=dict)
    """Unfinished text blocks, by index."""
    said: dict[int, str] = field(default_factory=dict)
    """Complete text blocks, by index."""
    usage: CallUsage | None = None
    """Usage of the running model call; None before its first event."""

    # Its calls.
    results: dict[str, Result] = field(default_factory=dict)
    """Results of ended calls, by call id."""
    jobs: dict[str, CellJob] = field(default_factory=dict)
    """Calls with a draft, by call id."""
    cards: dict[str, str] = field(default_factory=dict)
    """Tool names of the calls with an open card."""
    notes: dict[str, list[str]] = field(default_factory=dict)
    """Notes for the results, by call id."""
    refusal: str = ""
    """Why later calls that change the notebook do not start; "" if they do."""
    began: dict[str, float] = field(default_factory=dict)
    """When the source of a call began to arrive, on the loop's clock."""

    def __post_init__(self) -> None:
        self.turn.notebook.number()


def opened(
    step: Step, tool: Tool, call_id: str, given: dict[str, object], source: str
) -> CellJob | None:
    """The call's draft, shown with ``source`` so far. None if its cell or position does not
    exist, or nothing may change."""
    turn, known = step.turn, step.jobs.get(call_id)
    place = None if known else _place(turn, tool, given)
    if place is None or not turn.allowed.changes:
        return known
    kind, cell_id, old_source, spot = place
    given_title = given.get("title") or turn.titles.get(cell_id)
    title = as_it_is(tool.label) or title_so_far(given_title, source)
    job = CellJob(turn, ToolUse(call_id, tool.name, {}), kind, cell_id, title, old_source)
    if kind != "edit":
        job.position = so_far(given, "position") or ""
        job.place_at(turn.notebook.above(spot.after) if spot.after else ())
        job.replace_empty(spot.instead)
    return open_draft(step, job)


def open_draft(step: Step, job: CellJob) -> CellJob:
    """Show the job's draft. The job ends with this step at the latest."""
    job.open()
    step.jobs[job.call.id] = job
    return job


def show_card(step: Step, call_id: str, name: str) -> None:
    if call_id not in step.cards:
        step.cards[call_id] = name
        label = as_it_is(step.registry.label(name))
        step.turn.show(ToolStarted(call_id, name, label))


def tool_of(step: Step, call: ToolUse) -> Tool:
    tool = step.registry.get(call.name)
    if tool is None:
        raise RuntimeError(f"{call.name} is not a tool")
    return tool


def title_for(step: Step, call: ToolUse) -> Sentence:
    given = title_of(so_far(call.input, "title"), so_far(call.input, "source") or "")
    return as_it_is(step.registry.label(call.name)) or given


def add_notes(step: Step, call: ToolUse, *notes: str) -> None:
    """Add notes to the call's result on how its input was read."""
    step.notes.setdefault(call.id, []).extend(filter(None, notes))


def not_started(step: Step, call: ToolUse, words: str, summary: Sentence = NONE) -> None:
    """``words`` are for the model, ``summary`` for the person."""
    job = step.jobs.get(call.id)
    title = job.title if job is not None else title_for(step, call)
    if job is not None:
        job.remove()
    step.results[call.id] = step.turn.results.make(
        call, "not_started", words, title=title, summary=summary
    )


def is_refused(step: Step, call: ToolUse) -> bool:
    """Whether the mode forbids changes. The call then has its result."""
    if step.turn.allowed.changes:
        return False
    if call.id in step.jobs:
        step.jobs[call.id].remove()
    tool, mode = tool_of(step, call), step.turn.mode
    words = policy.refusal(tool.action or ACTIONS[tool.draft or "insert"], mode)
    step.results[call.id] = step.turn.results.not_run(
        call, words, title_for(step, call), "", summary=policy.refused(mode)
    )
    return True


async def confirm(step: Step, call: ToolUse, draft: Draft) -> Decision | None:
    """Ask the person about something that is no cell. None if they reject it: the call then
    has its result."""
    turn = step.turn
    turn.show(DraftWaiting(draft))
    decision = await turn.clock.attend(turn.decisions.ask(draft))
    turn.show(
        DraftDecided(
            draft.call_id,
            draft.draft_id,
            decision.action,
            decision.by,
            reason=decision.reason,
            window=decision.window,
            said=decision.said,
            person=decision.person,
        )
    )
    if decision.action == "run":
        return decision
    step.results[call.id] = turn.results.not_run(
        call, decision.reason, draft.title, "", by=decision.by
    )
    return None


def end_call(step: Step, call: ToolUse) -> None:
    """Close the card of a call, with its result."""
    take_results(step)
    for note in step.notes.pop(call.id, ()):
        words = step.turn.untrusted.inert(note)
        step.results[call.id] = noted(step.results[call.id], f"({words})")
    done = step.results[call.id].done
    if step.registry.changes(call.name) and done.status != "ok":
        step.refusal = step.refusal or AFTER_A_FAILURE
    del step.cards[call.id]
    step.turn.show(done)


def take_results(step: Step) -> None:
    for call_id, job in step.jobs.items():
        if job.result is not None:
            step.results.setdefault(call_id, job.result)


def draft_of(
    call: ToolUse,
    kind: Literal["kernel", "verify", "tool", "cells"],
    title: Sentence,
    words: str,
    *notices: Sentence,
) -> Draft:
    """A draft without a cell. ``words``: what will happen after the person's decision."""
    return Draft(
        draft_id=f"{kind}-{call.id}",
        call_id=call.id,
        kind=kind,
        cell_id="",
        title=title,
        source=str(words),
        words=words if isinstance(words, Sentence) else Sentence(),
        nonce=new_nonce(),
        notices=tuple(filter(None, notices)),
        runs=False,
    )


def _place(
    turn: Turn, tool: Tool, given: dict[str, object]
) -> tuple[Kind, str, str, NewCellPlace] | None:
    """Kind and cell of a draft, source as the model last saw it, and place."""
    if tool.draft == "edit":
        found = turn.notebook.find(so_far(given, "cell_id") or "")
        seen = turn.context.source_seen(found.cell_id) if found is not None else None
        return (
            None if seen is None or found is None else ("edit", found.cell_id, seen, NewCellPlace())
        )
    spot = turn.notebook.at(so_far(given, "position") or "")
    kind: Kind = "markdown" if tool.draft == "markdown" else "insert"
    return None if spot is None else (kind, new_cell_id(), "", spot[0])
