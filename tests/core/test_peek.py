"""The model's scratch look: what it sees, whether it asks, and that no effect is kept."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.events import Mode
from jupyter_codeinterp.core.hooks.hook import Hook, Refusal
from jupyter_codeinterp.core.hooks.hooks import Hooks
from jupyter_codeinterp.core.tools.built_in.peek import PEEK
from jupyter_codeinterp.core.tools.registry import ToolRegistry
from jupyter_codeinterp.core.turn.limits import Rules
from tests import pretending
from tests.core.conftest import Room
from tests.scripted import Bench, call, say

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux")

Benches = Callable[..., Bench]


def peeking(bench: Benches, code: str, **more: object) -> Bench:
    b = bench(call("peek", source=code), say("Done."), **more)
    b.session._tools.registry.add_own(PEEK)
    return b


async def looked(
    b: Bench, mode: Mode = "review", decision: Literal["", "run", "reject"] = "run"
) -> e.ToolDone:
    """Send, decide if it asks, and wait for the end."""
    b.send(mode=mode)
    if decision:
        draft = await b.draft()
        assert (draft.kind, draft.cell_id, draft.runs) == ("peek", "", False)
        b.decide(draft, decision)
    await b.ended()
    (done,) = b.of(e.ToolDone)
    return done


def told(b: Bench) -> str:
    """What the model reads of it."""
    return str(b.model.requests[-1].messages[-1])


async def test_it_looks_and_keeps_nothing(bench: Benches, room: Room, tmp_path: Path) -> None:
    await room.run("x = 41")
    b = peeking(bench, "x += 1\nprint('now', x)\nx")
    done = await looked(b)
    assert done.status == "ok" and "now 42" in told(b) and "No effect is kept." in told(b)
    assert "would change x: int 41" in told(b)
    assert await room.run("print(x)") == "41\n"
    assert len(b.document.notebook["cells"]) == 1, "no cell is left"
    assert (await b.session.workplace.kernel.info()).language == "python"


async def test_what_it_would_do_outside(bench: Benches, room: Room, tmp_path: Path) -> None:
    target = tmp_path / "made.txt"
    b = peeking(bench, f"print('before')\nopen({str(target)!r}, 'w')")
    done = await looked(b)
    assert done.status == "error" and not target.exists()
    assert "before" in told(b) and f"would write {target}" in told(b)


Verdict = Literal["run", "ask", "refuse"]
TABLE: list[tuple[Mode, bool, bool, Verdict]] = [
    # the mode, whether the kernel is sandboxed, whether an admin wants a sandbox for Auto
    ("review", False, False, "ask"),
    ("auto", False, False, "run"),
    ("auto", False, True, "ask"),
    ("plan", False, False, "refuse"),
    ("review", True, False, "run"),
    ("auto", True, True, "run"),
    ("plan", True, False, "refuse"),
]


@pytest.mark.parametrize(("mode", "sandboxed", "needs", "verdict"), TABLE)
async def test_whether_it_asks(
    bench: Benches,
    room: Room,
    monkeypatch: pytest.MonkeyPatch,
    mode: Mode,
    sandboxed: bool,
    needs: bool,
    verdict: Verdict,
) -> None:
    pretending.sandboxed(monkeypatch, sandboxed)
    b = peeking(bench, "601 * 7001", rules=Rules(auto_needs_sandbox=needs))
    done = await looked(b, mode, "run" if verdict == "ask" else "")
    assert ("4207601" in told(b)) is (verdict != "refuse")
    assert done.status == ("rejected" if verdict == "refuse" else "ok")
    assert len(b.of(e.DraftWaiting)) == (verdict == "ask")


async def test_a_person_rejects_it(bench: Benches) -> None:
    b = peeking(bench, "601 * 7001")
    done = await looked(b, decision="reject")
    assert done.status == "rejected" and "4207601" not in told(b)


async def test_a_hook_has_its_say(bench: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = Hooks()
    hooks.add(Hook("no", before_run=lambda code: Refusal(f"no {code.source}")))
    pretending.sandboxed(monkeypatch)
    b = peeking(bench, "6 * 7", hooks=hooks)
    done = await looked(b, decision="")
    assert done.status == "rejected" and "no 6 * 7" in told(b)


async def test_long_code_is_no_look(bench: Benches) -> None:
    b = peeking(bench, "x = 1\n" * 1_000)
    done = await looked(b, decision="")
    assert done.status == "not_started" and "at most 4,000 characters" in told(b)


async def test_a_busy_kernel(bench: Benches, room: Room) -> None:
    msg_id = room.person.run("import time; time.sleep(4)")
    await room.person.begun(msg_id)
    done = await looked(peeking(bench, "6 * 7"))
    assert done.status == "not_started" and done.summary == "Not tried: the kernel is busy."
    await room.person.finished(msg_id)


def test_requests_grow_only_where_it_is_on() -> None:
    registry = ToolRegistry()
    before = registry.specs()
    assert "peek" not in [spec.name for spec in before]
    registry.add_own(PEEK)
    assert registry.specs() == (*before, PEEK.spec), "and the others stay as they are"
