"""One decision about several cells of the notebook, carried out cell by cell."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec

from ...approval import policy
from ...cells import hooked
from ...cells.cell_run import CellRun, Granted
from ...cells.draft import DraftCell
from ...document.ops import CellView, called
from ...findings import Label
from ...hooks import HookNote
from ...messages import Image, ToolUse
from ...model_view import outputs
from ...turn.results import Room, noted
from ...wire.events import DraftWaiting, Event, Status
from .drafting import DIFFERS, Drafting, decided, draft_of
from .step import joined

LONGEST = 200_000
"""Characters of code in one decision."""
MOST_CELLS = 200
MOST_NOTICES = 15
TOO_MUCH = "This is more than a person can review at once. Name fewer cells."
STOPPED = "Stopped in the cell {id}; it may have had effects. Not reached: {ids}."
PROPOSED = "The cell {id} proposed another cell (set_next_input); it was not added."
DONE = "{done} of {all} cells{failed}."
FAILED = "; not ok: {ids}"
LEFT = " Not reached: {ids}."
_LEAST = 80
"""Characters of each cell's outputs, at least."""
_MOST_IDS = 30
_OVER = ("rejected", "not_run", "interrupted", "not_started", "not_confirmed")
"""Statuses after which the other cells never run."""


class Several:
    """One call about several cells. Its result includes those of the cells, in the room of one."""

    def __init__(
        self, drafting: Drafting, call: ToolUse, action: policy.Action, drafts: Sequence[DraftCell]
    ) -> None:
        self._drafting = drafting
        self._call = call
        self._action = action
        self._drafts = drafts
        self._may_go_on = False
        self._granted: dict[str, Granted] = {}
        """The permission of each cell; empty if the policy decides cell by cell."""

    async def events(
        self, title: str, words: str, *, stop_on_error: bool = True
    ) -> AsyncIterator[Event]:
        """Ask, then carry out each cell. ``words`` say what happens to the cells."""
        async for event in self._ask(title, words):
            yield event
        if not self._may_go_on:
            return
        turn, step, call = self._drafting.turn, self._drafting.step, self._call
        result = step.results[call.id] = turn.results.make(call, "interrupted", title=title)
        characters, images = outputs.BUDGET, outputs.IMAGES_A_RESULT
        status: Status = "ok"
        failed: list[str] = []
        for number, draft in enumerate(self._drafts, 1):
            draft.room = Room(max(_LEAST, characters // (len(self._drafts) - number + 1)), images)
            after = _ids(self._drafts[number:])
            cut_off = STOPPED.format(id=draft.cell_id, ids=after)
            step.results[call.id] = noted(result, turn.untrusted.inert(cut_off))
            async for event in self._carry_out(draft):
                yield event
            one = step.results[draft.call_id]
            characters -= len(one.text)
            images -= sum(isinstance(part, Image) for part in one.block.content)
            result = step.results[call.id] = joined(result, one, "")
            if one.done.status != "ok":
                status = one.done.status
                failed.append(draft.cell_id)
                if stop_on_error or status in _OVER:
                    break
        named = FAILED.format(ids=", ".join(failed[:_MOST_IDS])) if failed else ""
        all_told = DONE.format(done=number, all=len(self._drafts), failed=named)
        if number < len(self._drafts):
            all_told += LEFT.format(ids=_ids(self._drafts[number:]))
        if len(self._drafts) == 1:
            all_told = ""
        head = turn.results.make(call, status, all_told, title=title, summary=all_told)
        content = (*head.block.content, *result.block.content[1:])
        if len(self._drafts) == 1:  # The cell's own result says it all.
            content = one.block.content
        block = msgspec.structs.replace(head.block, content=content)
        step.results[call.id] = msgspec.structs.replace(head, block=block)

    async def _carry_out(self, draft: DraftCell) -> AsyncIterator[Event]:
        """The draft of one cell, with a card of its own."""
        step, part = self._drafting.step, ToolUse(draft.call_id, self._call.name, {})
        run = step.runs[part.id] = CellRun(draft, part.name)
        for event in step.card(part.id, part.name):
            yield event
        yield draft.opened()
        granted = self._granted.get(draft.cell_id)
        async for event in run.run(part, draft.source, granted=granted):
            yield event
        if run.next_inputs:
            step.say(self._call, PROPOSED.format(id=draft.cell_id))
        step.take_results()
        yield step.ended(part)

    async def _ask(self, title: str, words: str) -> AsyncIterator[Event]:
        """Ask for a decision if the policy wants it. After a refusal the call has its result."""
        turn, why = self._drafting.turn, ""
        runs = any(draft.runs for draft in self._drafts)
        listing = f"{words}\n\n{listed(turn.notebook.snapshot.cells, self._drafts)}"
        if len(listing) > LONGEST or len(self._drafts) > MOST_CELLS:
            self._drafting.step.not_started(self._call, TOO_MUCH)
            return
        while not self._may_go_on:
            info = await turn.kernel_info()
            notices: list[str] = []
            labels: dict[Label, None] = {}
            told: dict[str, tuple[HookNote, ...]] = {}
            asks = False
            for draft in self._drafts:
                said = await draft.check(draft.source, info)
                place = f"Cell {turn.notebook.stands(draft.cell_id).partition('/')[0]}: "
                if said.refusal is not None:
                    self._end(title, place + hooked.line(turn, said.refusal), "policy")
                    return
                notices += [place + hooked.line(turn, note) for note in said.notes]
                labels |= dict.fromkeys(await draft.labels(draft.source, info))
                told[draft.cell_id] = said.notes
                asks |= said.ask
            if len(notices) > MOST_NOTICES:
                self._drafting.step.not_started(self._call, TOO_MUCH)
                return
            barred, why_barred = turn.bars(info) if runs else (False, ())
            verdict = policy.decide(
                self._action,
                turn.mode,
                owned=all(draft.is_owned for draft in self._drafts),
                suspicious=asks or bool(why),
                always_ask=turn.always_ask,
                run_all=turn.run_all,
                barred=barred,
            )
            if verdict == "refuse":
                self._end(title, policy.refusal(self._action, turn.mode), "policy")
            elif verdict == "run":
                self._may_go_on = True
            if verdict != "ask":
                return
            waiting = msgspec.structs.replace(
                draft_of(self._call, "cells", title, listing, ""),
                notices=tuple(filter(None, (why, *why_barred, *notices))),
                labels=tuple(labels)[:MOST_NOTICES],
                runs=runs,
                can_run_all=runs and turn.can_run_all and not barred,
            )
            yield DraftWaiting(waiting)
            decision = await turn.clock.attend(turn.decisions.ask(waiting))
            yield decided(waiting, decision)
            if decision.run_all:
                turn.let_all_run()
            if decision.action == "reject":
                self._end(title, decision.reason, decision.by)
                return
            if decision.source == waiting.source:
                self._may_go_on = True
                self._granted = {one: Granted(decision, info, told[one]) for one in told}
            why = DIFFERS

    def _end(self, title: str, words: str, by: str) -> None:
        results, call = self._drafting.turn.results, self._call
        self._drafting.step.results[call.id] = results.not_run(call, words, title, "", by=by)


def _ids(drafts: Sequence[DraftCell]) -> str:
    return ", ".join(draft.cell_id for draft in drafts[:_MOST_IDS]) or "none"


def listed(cells: Sequence[CellView], drafts: Sequence[DraftCell]) -> str:
    """The cells with place, execution count and full source. The source is indented, so it cannot
    look like the head of another cell."""
    places = {cell.cell_id: (place, cell) for place, cell in enumerate(cells, 1)}
    parts: list[str] = []
    for draft in drafts:
        place, cell = places[draft.cell_id]
        lines = "\n    ".join(draft.source.splitlines())
        name = called(place, cell.execution_count).capitalize()
        parts.append(f"{name}\n    {lines}")
    return "\n\n".join(parts)
