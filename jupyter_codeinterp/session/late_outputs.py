"""Outputs that a thread, a task or another cell adds to a cell after the end of its run."""

from __future__ import annotations

import logging

import msgspec

from ..base.errors import CommandError, DocumentError, StoreError
from ..base.off_loop import off_loop
from ..notebook.passive import is_passive
from ..view.outputs import size
from ..wire.ops import FinishRun, Output
from .log import SessionLog

log = logging.getLogger(__name__)


class LateOutputs:
    def __init__(self, session_log: SessionLog) -> None:
        self._log = session_log

    async def add(self, turn: int, end: FinishRun, outputs: tuple[Output, ...]) -> None:
        """Add outputs to the cell whose run ended with ``end``."""
        session = self._log
        if session.closing or session.ledger.last_run(end.cell_id) != end.run_id:
            return
        # Code that nobody has reviewed can publish them in the name of a reviewed cell.
        new = [now for at, now in enumerate(outputs) if (now,) != end.outputs[at : at + 1]]
        trusted = end.trusted and await off_loop(lambda: is_passive(new), size(new), lambda: False)
        kept = await session.store.keep_outputs(session.session_id, outputs)
        changed = {"outputs": outputs, "trusted": trusted, "kept": kept}
        try:
            with session.here():
                op = msgspec.structs.replace(end, **changed)
                session.workplace.document.apply_later(turn, op)
                await session.workplace.document.save()
        except (CommandError, StoreError, DocumentError) as error:
            log.info("Outputs after a run are not in %s: %s", end.cell_id, error)
            return
        if session.ledger.last_run(end.cell_id) != end.run_id:
            return  # The cell has run again meanwhile.
        if session.task.running and session.task.turn is not None:
            session.task.turn.notebook.has_run(end.cell_id, outputs)
