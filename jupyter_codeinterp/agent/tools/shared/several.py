"""One decision about several cells of the notebook, carried out cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from ....base.sentences import Sentence, together
from ....run.approval import policy
from ....run.deciding import carry_out, check
from ....run.job import CellJob, Granted
from ....run.turn.results import OutputRoom, Result, joined, noted
from ....view import outputs
from ....wire.events import Status
from ....wire.messages import Image, ToolUse
from ....wire.ops import CellView
from ....wire.ports import KernelInfo
from .step import (
    DIFFERS,
    Step,
    confirm,
    draft_of,
    end_call,
    not_started,
    open_draft,
    show_card,
)

LONGEST = 200_000
"""Characters of code in one decision."""
MOST_CELLS = 200
MOST_NOTICES = 15
TOO_MUCH = Sentence("This is more than a person can review at once. Name fewer cells.")
STOPPED = "Stopped in the cell {id}; it may have had effects. Not reached: {ids}."
DONE = "{done} of {all} cells{failed}."
FAILED = "; not ok: {ids}"
LEFT = " Not reached: {ids}."
CELL = "Cell {place}"
CELL_THAT_RAN = "Cell {place} [{count}]"
SILENT = " Runs without output are not listed: {count}."
_LEAST = 80
"""Characters of each cell's outputs, at least."""
_MOST_IDS = 30
_NEVER_RAN = ("rejected", "not_run", "not_started")
_OVER = ("rejected", "not_run", "interrupted", "not_started", "not_confirmed")
"""Statuses after which the other cells never run."""


class _Checks(NamedTuple):
    """``warnings`` by cell; ``notices``: all of them, for the card."""

    warnings: dict[str, tuple[Sentence, ...]]
    notices: tuple[Sentence, ...]
    ask: bool


class Several:
    """One call about several cells. Its result includes those of the cells, in the room of one,
    and counts runs that only succeeded."""

    def __init__(
        self, step: Step, call: ToolUse, action: policy.Action, jobs: Sequence[CellJob]
    ) -> None:
        self._step = step
        self._turn = step.turn
        self._call = call
        self._action = action
        self._jobs = jobs

    async def run(self, title: Sentence, words: Sentence, *, stop_on_error: bool = True) -> None:
        """Ask, then carry out each cell. ``words`` say what happens to the cells."""
        granted = await self._ask(title, words)
        if granted is None:
            return
        turn, results, call = self._turn, self._step.results, self._call
        result = results[call.id] = turn.results.make(call, "interrupted", title=title)
        characters, images = outputs.BUDGET, outputs.IMAGES_A_RESULT
        status: Status = "ok"
        failed: list[str] = []
        silent = ran = 0
        for number, job in enumerate(self._jobs, 1):
            job.room = OutputRoom(max(_LEAST, characters // (len(self._jobs) - number + 1)), images)
            after = _ids(self._jobs[number:])
            cut_off = STOPPED.format(id=job.cell_id, ids=after)
            results[call.id] = noted(result, turn.untrusted.inert(cut_off))
            one = await self._carry_out(job, granted.get(job.cell_id))
            characters -= len(one.text)
            images -= sum(isinstance(part, Image) for part in one.block.content)
            if job.runs and one.done.status == "ok" and len(one.text.splitlines()) == 1:
                silent += 1
            else:
                result = joined(result, one, "")
            results[call.id] = result
            ran += one.done.status not in _NEVER_RAN
            if one.done.status != "ok":
                status = one.done.status
                failed.append(job.cell_id)
                if stop_on_error or status in _OVER:
                    break
        named = FAILED.format(ids=", ".join(failed[:_MOST_IDS])) if failed else ""
        all_told = DONE.format(done=number, all=len(self._jobs), failed=named)
        if number < len(self._jobs):
            all_told += LEFT.format(ids=_ids(self._jobs[number:]))
        if len(self._jobs) == 1:
            all_told, silent = "", 0
        told = all_told + (SILENT.format(count=silent) if silent else "")
        every, good = len(self._jobs), number - len(failed)
        summary = Sentence("{all} cells: all ok.", all=every) if every > 1 else Sentence()
        if all_told and failed:
            summary = Sentence(
                "{all} cells: {good} ok, {failed} failed, {left} not started.",
                **{"all": every, "good": good, "failed": ran - good, "left": every - ran},
            )
        head = turn.results.make(call, status, told, title=title, summary=summary)
        content = (*head.block.content, *result.block.content[1:])
        if len(self._jobs) == 1:  # The cell's own result says it all.
            content = one.block.content
        block = msgspec.structs.replace(head.block, content=content)
        results[call.id] = msgspec.structs.replace(head, block=block)

    async def _carry_out(self, job: CellJob, granted: Granted | None) -> Result:
        """The draft of one cell, with a card of its own."""
        part = job.call
        show_card(self._step, part.id, part.name)
        open_draft(self._step, job)
        await carry_out(job, job.source, granted)
        end_call(self._step, part)
        return self._step.results[part.id]

    # --- the decision ----------------------------------------------------------------

    async def _ask(self, title: Sentence, words: Sentence) -> dict[str, Granted] | None:
        """Ask for a decision if the policy wants it. Returns the person's permission for each cell;
        {} if the policy decides cell by cell. None if nothing runs: the call has its result."""
        turn, call, why = self._turn, self._call, Sentence()
        cells = listed(turn.notebook.snapshot.cells, self._jobs)
        listing = together(words, cells, between="\n\n")
        if len(listing) > LONGEST or len(self._jobs) > MOST_CELLS:
            not_started(self._step, call, TOO_MUCH)
            return None
        while True:
            info = await turn.kernel_info()
            checks = await self._check(info)
            if len(checks.notices) > MOST_NOTICES:
                not_started(self._step, call, TOO_MUCH)
                return None
            runs = any(job.runs for job in self._jobs)
            barred, why_barred = turn.bars(info) if runs else (False, ())
            verdict = policy.decide(
                self._action,
                turn.mode,
                owned=all(job.is_owned for job in self._jobs),
                suspicious=checks.ask or bool(why),
                always_ask=turn.always_ask,
                run_all=turn.run_all,
                barred=barred,
            )
            if verdict == "run":
                return {}
            if verdict == "refuse":
                refusal = policy.refusal(self._action, turn.mode)
                self._step.results[call.id] = turn.results.not_run(call, refusal, title, "")
                return None
            draft = msgspec.structs.replace(
                draft_of(call, "cells", title, listing, why, *why_barred, *checks.notices),
                runs=runs,
                can_run_all=runs and turn.can_run_all and not barred,
            )
            decision = await confirm(self._step, call, draft)
            if decision is None:
                return None
            if decision.run_all:
                turn.let_all_run()
            if decision.source == draft.source:
                return {one: Granted(decision, info, said) for one, said in checks.warnings.items()}
            why = DIFFERS

    async def _check(self, info: KernelInfo | None) -> _Checks:
        turn, warnings, notices = self._turn, dict[str, tuple[Sentence, ...]](), list[Sentence]()
        asks = False
        for job in self._jobs:
            said = await check(job, job.source, info)
            place = turn.notebook.stands(job.cell_id).partition("/")[0]
            notices += [
                Sentence("Cell {place}: {words}", place=place, words=line)
                for line in (*said.lines, said.refusal)
                if line
            ]
            warnings[job.cell_id] = said.lines
            asks |= said.ask
        return _Checks(warnings, tuple(notices), asks)


def _ids(jobs: Sequence[CellJob]) -> str:
    return ", ".join(job.cell_id for job in jobs[:_MOST_IDS]) or "none"


def listed(cells: Sequence[CellView], jobs: Sequence[CellJob]) -> Sentence:
    """The cells with place, execution count and full source. The source is indented, so it cannot
    look like the head of another cell."""
    places = {cell.cell_id: (place, cell) for place, cell in enumerate(cells, 1)}
    parts: list[Sentence] = []
    for job in jobs:
        place, cell = places[job.cell_id]
        lines = "\n    ".join(job.source.splitlines())
        count = cell.execution_count
        name = Sentence(CELL if count is None else CELL_THAT_RAN, place=place, count=count)
        parts.append(together(name, lines, between="\n    "))
    return together(*parts, between="\n\n")
