"""A scratch look of the model: a few lines in a fork of the kernel that is thrown away.

No cell is left and no effect is kept. In a sandboxed kernel nobody is asked; elsewhere it asks as
a run does. The tool exists only where an admin has turned it on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from ...approval import policy
from ...approval.code_warnings import hidden_characters
from ...cells import hooked
from ...cells.cell_run import NEEDS_SANDBOX
from ...errors import KernelError
from ...events import DraftWaiting, Event, Status
from ...hooks.hook import CellCode
from ...injection.caution import SPOKEN_TO
from ...messages import ToolUse
from ...ports import KernelInfo
from ...rehearsal import endings
from ...rehearsal.kernel_answer import Rehearsal, read
from ...turn.results import Result
from ...turn.turn import identity
from ..shared.base import STRING, Tool
from ..shared.drafting import Drafting
from ..shared.without_cell import CUT_OFF, DIFFERS, decided, draft_of

SECONDS = 10.0
LONGEST = 4_000
"""Characters of the code: a look is short."""
TOO_LONG = f"A peek takes at most {LONGEST:,} characters. Add a cell instead."
ANOTHER = "The kernel was restarted or changed since you decided."
LOST = "No effect is kept."
MOST_NOTES = 5


class Peek(msgspec.Struct, frozen=True):
    source: str


async def _work(drafting: Drafting, call: ToolUse, arguments: Peek) -> AsyncIterator[Event]:
    peeking = _Peeking(drafting, call, arguments.source)
    try:
        async for event in peeking.events():
            yield event
    except KernelError as error:
        peeking.end("not_started", error.message)


class _Peeking:
    def __init__(self, drafting: Drafting, call: ToolUse, source: str) -> None:
        self._turn = drafting.turn
        self._results = drafting.step.results
        self._call = call
        self._source = source

    async def events(self) -> AsyncIterator[Event]:
        if len(self._source) > LONGEST:
            self.end("not_started", TOO_LONG)
            return
        turn, why = self._turn, ""
        while True:
            info = await turn.kernel.info()
            said = await turn.hooks.before_run(self._code(info))
            if said.refusal is not None:
                line = hooked.line(turn, said.refusal)
                self.reject(line, line)
                return
            notices = tuple(filter(None, (why, *self._suspicious(info))))
            verdict = self._verdict(info, said.ask or bool(notices))
            if verdict == "refuse":
                self.reject(policy.refusal("peek", turn.mode), policy.refused(turn.mode))
                return
            if verdict == "ask":
                notes = [hooked.line(turn, note) for note in said.notes[:MOST_NOTES]]
                barred = NEEDS_SANDBOX if self._is_barred(info) and turn.allowed.unasked else ""
                draft = draft_of(self._call, "peek", PEEK.label, self._source, "")
                notices = tuple(filter(None, (*notices, barred, *notes)))
                draft = msgspec.structs.replace(draft, notices=notices)
                yield DraftWaiting(draft)
                decision = await turn.clock.attend(turn.decisions.ask(draft))
                yield decided(draft, decision)
                if decision.action == "reject":
                    self.reject(decision.reason)
                    return
                if decision.run_all:
                    turn.let_all_run()
                why = "" if decision.source == draft.source else DIFFERS
                if identity(await turn.kernel.info()) != identity(info):
                    why = ANOTHER
                if why:
                    continue
            # If Stop comes meanwhile, the result is there.
            self.end("interrupted", CUT_OFF)
            answer = await turn.kernel.rehearse(self._source, SECONDS)
            await self._told(read(answer, SECONDS, turn.untrusted.scrub))
            return

    def _suspicious(self, info: KernelInfo) -> tuple[str, ...]:
        """Why it asks in every mode."""
        sign = "" if info.sandboxed else self._turn.cautions.sign
        spoken = (SPOKEN_TO.format(sign=sign),) if sign else ()
        return (*hidden_characters(self._source), *spoken)

    def _verdict(self, info: KernelInfo, suspicious: bool) -> policy.Verdict:
        turn = self._turn
        if info.sandboxed and turn.allowed.changes and not (suspicious or turn.always_ask):
            return "run"
        return policy.decide(
            "peek",
            turn.mode,
            owned=True,
            suspicious=suspicious,
            always_ask=turn.always_ask,
            run_all=turn.run_all,
            barred=self._is_barred(info),
        )

    def _is_barred(self, info: KernelInfo) -> bool:
        """Whether an admin wants a person's decision because the kernel is in no sandbox."""
        return self._turn.auto_needs_sandbox and not info.sandboxed

    def _code(self, info: KernelInfo) -> CellCode:
        turn = self._turn
        return CellCode(
            notebook=turn.document.path,
            cell_id="",
            source=self._source,
            language=info.language,
            title=PEEK.label,
            files=tuple(name for name, _ in turn.files),
            session_id=turn.session_id,
            turn=turn.number,
        )

    async def _told(self, found: Rehearsal) -> None:
        turn = self._turn
        seen = await turn.results.see(found.outputs)
        lines = [seen.text] if seen.text else []
        shown = (one for one in found.changes if one.name not in turn.private)
        lines += [f"would change {one.name}: {one.text}" for one in shown]
        lines += [f"would {endings.reach(one.what, one.name)}" for one in found.reached]
        quoted = turn.untrusted.quoted("\n".join(lines)) if lines else ""
        if found.how == "refused" and found.own_words:
            quoted = turn.untrusted.quoted(found.words)
        status: Status = "ok" if found.how == "done" else "error"
        if found.how == "refused":
            status = "not_started"
        self._set(
            turn.results.make(
                self._call,
                status,
                " ".join(part for part in (found.own_words or found.words, LOST) if part),
                title=PEEK.label,
                summary=found.words,
                images=seen.images,
                quoted=quoted,
            )
        )

    def reject(self, reason: str, summary: str = "") -> None:
        self._set(self._turn.results.rejected(self._call, reason, PEEK.label, "", summary))

    def end(self, status: Status, told: str) -> None:
        results = self._turn.results
        self._set(results.make(self._call, status, told, title=PEEK.label, summary=told))

    def _set(self, result: Result) -> None:
        self._results[self._call.id] = result


PEEK = Tool(
    "peek",
    "Take a scratch look",
    "Run a few lines in a copy of the kernel that is thrown away: no cell, no effects, no files or "
    "network. For a quick look at data.",
    Peek,
    {"source": STRING},
    ("source",),
    work=_work,
)
"""Not in ``BUILT_IN``: requests grow only where an admin wants it."""
