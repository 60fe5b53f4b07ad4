"""Stop, when the kernel has our request and is still at a cell of the person's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.ops import BeginRun
from tests.core.conftest import Room
from tests.kernels import Gate, Intruder, until
from tests.scripted import Bench, run


async def test_what_has_not_begun_is_not_said_to_disobey(
    bench: Callable[..., Bench], room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeinterp.session.session.INTERRUPT_TIME", 0.0)
    gate = Gate(tmp_path / "open")
    b = bench(run("print('ours')"))
    link = room.pool.get(room.kernel_id)[0]
    intruders: list[Intruder] = []

    def intrude(op: object) -> None:
        if isinstance(op, BeginRun):
            intruders.append(Intruder(link, room.person, f"{gate.source}\nprint('whole')"))

    b.document.before_op = intrude
    b.send(mode="auto")
    await until(lambda: bool(link.listeners))
    (theirs,) = intruders
    b.session.task.cancel()
    await b.ended()
    assert "is queued in the kernel behind the person's cell" in b.results[0]
    assert "not react" not in b.results[0]
    await until(lambda: not b.session.log.background)
    assert b.of(e.Note) == []
    gate.open()
    await room.person.finished(theirs.msg_id)
    assert room.person.text(theirs.msg_id) == "whole\n"
    assert await room.ran() == [theirs.source, "print('ours')"]
    cell = b.document.notebook["cells"][1]
    shown = cell["outputs"][0]["text"]
    assert "queued in the kernel" in shown or shown == "ours\n", "it was quicker than its interrupt"
