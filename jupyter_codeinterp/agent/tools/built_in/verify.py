"""Run the notebook from the top in a fresh kernel, after a decision, and compare the outputs.

The live kernel and the notebook do not change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

import msgspec

from ....base.errors import CommandError, DocumentError
from ....base.sentences import Sentence, as_it_is
from ....run import hooked
from ....run.approval import code_warnings, policy
from ....run.approval.code_warnings import CodeWarnings, checked, warnings_on
from ....run.job import BLOCKED
from ....run.turn.hooks import CellCode
from ....run.turn.turn import Turn
from ....run.verify import verification
from ....run.verify.verification import CodeCell, FreshRuns
from ....view.plain_text import clean
from ....wire.events import Status
from ....wire.messages import ToolUse
from ....wire.ops import PRIVATE
from ..shared.base import Tool
from ..shared.step import CUT_OFF, DIFFERS, Step, confirm, draft_of, is_refused

NOT_SAVED = Sentence("The notebook has unsaved changes, so nothing ran. Ask the person to save it.")
CHANGED = Sentence("The notebook changed meanwhile. Decide again.")
ONE_CELL = Sentence("Run 1 cell from the top in a fresh kernel.\n{where}")
CELLS = Sentence("Run {count} cells from the top in a fresh kernel.\n{where}")
COPY = Sentence("In a copy of the notebook's folder.")
IN_PLACE = Sentence("In the notebook's own folder: the code may change files there.")
SAVED_WITHIN = 5.0
"""Seconds that a window has to save the notebook."""
AGAIN = 0.2
MOST_NOTES = 5


class Verify(msgspec.Struct, frozen=True):
    pass


async def _work(step: Step, call: ToolUse, arguments: Verify) -> None:
    verifying = _Verifying(step, call)
    if is_refused(step, call):
        return
    try:
        await verifying.run(step.turn.workplace.fresh_runs)
    except (CommandError, DocumentError) as error:
        verifying.end("not_started", error.message)


class _Verifying:
    def __init__(self, step: Step, call: ToolUse) -> None:
        self._turn = step.turn
        self._step = step
        self._call = call

    async def run(self, fresh: FreshRuns) -> None:
        turn, in_place, why = self._turn, False, Sentence()
        while True:
            cells = await _saved(turn, fresh)
            said = await _checked(turn, cells)
            if said.refusal:
                quoted = turn.untrusted.shown(said.refusal)
                self._step.results[self._call.id] = turn.results.not_run(
                    self._call, BLOCKED, as_it_is(VERIFY.label), "", said.refusal, quoted
                )
                return
            barred, why_barred = turn.bars(await turn.kernel_info())
            verdict = policy.decide(
                "verify",
                turn.mode,
                owned=False,
                suspicious=said.ask or in_place or bool(why),
                always_ask=turn.always_ask,
                run_all=turn.run_all,
                barred=barred,
            )
            if verdict == "ask":
                notes = said.lines[:MOST_NOTES]
                where = IN_PLACE if in_place else COPY
                told = CELLS if len(cells) > 1 else ONE_CELL
                words = Sentence(told, count=len(cells), where=where)
                draft = draft_of(
                    self._call, "verify", as_it_is(VERIFY.label), words, why, *why_barred, *notes
                )
                decision = await confirm(self._step, self._call, draft)
                if decision is None:
                    return
                is_same = _sources(await fresh.cells()) == _sources(cells)
                why = Sentence() if is_same else CHANGED
                why = why if decision.source == draft.source else DIFFERS
                if why:
                    continue
            # The result in case Stop comes meanwhile.
            self.end("interrupted", CUT_OFF)
            try:
                await self._verify(fresh, cells, in_place)
            except CommandError as error:
                if error.code != "in_folder" or in_place:
                    raise
                in_place, why = True, error.message
                continue
            return

    async def _verify(self, fresh: FreshRuns, cells: Sequence[CodeCell], in_place: bool) -> None:
        now = await fresh.run(in_place)
        hidden = {cell.cell_id for cell in cells if PRIVATE in cell.tags}
        told = "\n".join(verification.lines(now, hidden, self._line))
        failed = any(cell.status == "failed" for cell in now.cells)
        status: Status = "ok" if now.state == "done" and not failed else "error"
        self.end(status, verification.summary(now), self._turn.untrusted.quoted(told))

    def _line(self, text: str) -> str:
        return " ".join(clean(self._turn.scrub(text)).split())

    def end(self, status: Status, words: Sentence, quoted: str = "") -> None:
        self._step.results[self._call.id] = self._turn.results.make(
            self._call, status, words, title=as_it_is(VERIFY.label), summary=words, quoted=quoted
        )


async def _saved(turn: Turn, fresh: FreshRuns) -> Sequence[CodeCell]:
    """The cells of the notebook's file, once it equals the open notebook. Raises CommandError."""
    shown = (await turn.notebook.look()).cells
    wanted = {
        cell.cell_id: (cell.source, cell.execution_count)
        for cell in shown
        if cell.cell_type == "code" and cell.source.strip() and PRIVATE not in cell.tags
    }
    await turn.document.save()
    for _ in range(round(SAVED_WITHIN / AGAIN)):
        cells = await fresh.cells()
        known = {
            cell.cell_id: (cell.source, cell.count) for cell in cells if PRIVATE not in cell.tags
        }
        if known == wanted:
            return cells
        await asyncio.sleep(AGAIN)
    raise CommandError("conflict", NOT_SAVED)


def _sources(cells: Sequence[CodeCell]) -> list[tuple[str, str]]:
    return [(cell.cell_id, cell.source) for cell in cells]


async def _checked(turn: Turn, cells: Sequence[CodeCell]) -> CodeWarnings:
    """The warnings on all cells and what the hooks say of them, as before a run of each."""
    lines: list[Sentence] = []
    ask, files = False, tuple(name for name, _ in turn.files)
    for cell in cells:
        said = await warnings_on(cell.source, "python", files, unread=False)
        place = (turn.session_id, turn.number, turn.asked, turn.document.path)
        hooks = await hooked.before_run(turn, CellCode(cell.source, "python", *place))
        if hooks.refusal:
            return hooks
        lines += (*said.lines, *hooks.lines)
        keys = await checked(partial(code_warnings.keys, turn.scrub), cell.source)
        ask = ask or said.ask or hooks.ask or bool(keys)
    return CodeWarnings(tuple(dict.fromkeys(lines)), ask)


VERIFY = Tool(
    "verify",
    Sentence("Verify the notebook"),
    "Run the whole notebook from the top in a fresh kernel and compare; the live kernel and the "
    "notebook stay as they are.",
    Verify,
    effect="changes",
    work=_work,
    action="verify",
)
