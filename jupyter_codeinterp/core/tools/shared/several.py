"""One decision about several cells of the notebook, carried out cell by cell."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import msgspec

from ...approval import policy
from ...approval.decisions import Decision
from ...cells import hooked
from ...cells.cell_run import NEEDS_SANDBOX, CellRun
from ...cells.draft import DraftCell
from ...document.ops import CellView
from ...events import DraftWaiting, Event, Status
from ...labels import Label
from ...messages import ToolUse
from ...model_view import outputs
from ...turn.results import Room
from .drafting import Drafting
from .step import joined
from .without_cell import DIFFERS, decided, draft_of

LONGEST = 200_000
"""Characters of code in one decision."""
TOO_LONG = "These cells have more code than a person can review at once. Name fewer."
MOST_NOTICES = 10
DONE = "{done} of {all} cells{failed}."
FAILED = "; not ok: {ids}"
LEFT = " Not reached: {ids}."
_LEAST = 300
"""Characters of each cell's outputs."""
_MOST_IDS = 30
_OVER = ("rejected", "not_run", "interrupted", "not_started", "not_confirmed")
"""After these the other cells do not follow, whatever the call says."""


class Several:
    """The call has its result at the end, with those of its cells, which share the room of one."""

    def __init__(
        self, drafting: Drafting, call: ToolUse, action: policy.Action, drafts: Sequence[DraftCell]
    ) -> None:
        self._drafting = drafting
        self._call = call
        self._action = action
        self._drafts = drafts
        self._decision: Decision | None = None

    async def events(
        self, title: str, words: str, *, stop_on_error: bool = True
    ) -> AsyncIterator[Event]:
        """``words`` say what happens to the cells."""
        async for event in self._ask(title, words):
            yield event
        if self._decision is None:
            return
        turn, step, call = self._drafting.turn, self._drafting.step, self._call
        result = step.results[call.id] = turn.results.make(call, "interrupted", title=title)
        characters, images = outputs.BUDGET, outputs.IMAGES_A_RESULT
        status: Status = "ok"
        failed: list[str] = []
        for number, draft in enumerate(self._drafts, 1):
            draft.room = Room(max(_LEAST, characters // (len(self._drafts) - number + 1)), images)
            async for event in self._carry_out(draft):
                yield event
            one = step.results[draft.call_id]
            characters -= len(one.text)
            images -= len(one.block.content) - 1
            result = step.results[call.id] = joined(result, one, "")
            if one.done.status != "ok":
                status = one.done.status
                failed.append(draft.cell_id)
                if stop_on_error or status in _OVER:
                    break
        left = [draft.cell_id for draft in self._drafts[number:]]
        named = FAILED.format(ids=", ".join(failed[:_MOST_IDS])) if failed else ""
        all_told = DONE.format(done=number, all=len(self._drafts), failed=named)
        if left:
            all_told += LEFT.format(ids=", ".join(left[:_MOST_IDS]))
        head = turn.results.make(call, status, all_told, title=title, summary=all_told)
        content = (*head.block.content, *result.block.content[1:])
        block = msgspec.structs.replace(head.block, content=content)
        step.results[call.id] = msgspec.structs.replace(head, block=block)

    async def _carry_out(self, draft: DraftCell) -> AsyncIterator[Event]:
        """The draft of one cell, with a card of its own."""
        step, part = self._drafting.step, ToolUse(draft.call_id, self._call.name, {})
        run = step.runs[part.id] = CellRun(draft, part.name)
        for event in step.card(part.id, part.name):
            yield event
        yield draft.opened()
        async for event in run.run(part, draft.source, decided=self._decision):
            yield event
        step.take_results()
        yield step.ended(part)

    async def _ask(self, title: str, words: str) -> AsyncIterator[Event]:
        """Set the decision, asking where the policy wants it; else the call has its result."""
        turn, why = self._drafting.turn, ""
        runs = any(draft.runs for draft in self._drafts)
        listing = f"{words}\n\n{listed(turn.notebook.snapshot.cells, self._drafts)}"
        if len(listing) > LONGEST:
            self._drafting.step.not_started(self._call, TOO_LONG)
            return
        while self._decision is None:
            info = await turn.kernel_info()
            notices: dict[str, None] = {}
            labels: dict[Label, None] = {}
            asks = False
            for draft in self._drafts:
                said = await draft.check(draft.source, info)
                if said.refusal is not None:
                    self._end(title, hooked.line(turn, said.refusal), "policy")
                    return
                notices |= dict.fromkeys(hooked.line(turn, note) for note in said.notes)
                labels |= dict.fromkeys(await draft.labels(draft.source, info))
                asks |= said.ask
            barred = runs and turn.auto_needs_sandbox and not (info and info.sandboxed)
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
                self._decision = Decision("run", "policy", listing)
            if verdict != "ask":
                return
            sandbox = NEEDS_SANDBOX if barred and turn.allowed.unasked else ""
            waiting = msgspec.structs.replace(
                draft_of(self._call, "cells", title, listing, ""),
                notices=tuple(filter(None, (why, sandbox, *[*notices][:MOST_NOTICES]))),
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
                self._decision = decision
            why = DIFFERS

    def _end(self, title: str, words: str, by: str) -> None:
        results, call = self._drafting.turn.results, self._call
        self._drafting.step.results[call.id] = results.not_run(call, words, title, "", by=by)


def listed(cells: Sequence[CellView], drafts: Sequence[DraftCell]) -> str:
    """The cells with their place, their execution count and all of their source."""
    places = {cell.cell_id: (place, cell) for place, cell in enumerate(cells, 1)}
    parts: list[str] = []
    for draft in drafts:
        place, cell = places[draft.cell_id]
        ran = f" [{cell.execution_count}]" if cell.execution_count is not None else ""
        parts.append(f"# Cell {place}{ran}\n{draft.source}")
    return "\n\n".join(parts)
