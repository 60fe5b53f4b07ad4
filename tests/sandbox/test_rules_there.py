"""A rule that lets cells run without asking, held against what they do in a sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jupyter_codeinterp.adapters.kernels.zmq import ZmqKernel
from jupyter_codeinterp.adapters.storage.sqlite import SqliteStore
from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.labels import Observation
from tests.kernels import kernel_manager, run, running_kernel
from tests.reference_window import notebook
from tests.sandbox.here import runs_here
from tests.sandbox.test_agents_runs import NAMED, folder, install
from tests.scripted import Bench, say
from tests.scripted import run as runs

__all__ = ["folder"]
HIDDEN = """
import os, subprocess, urllib.request
class Hidden:
    def head(self):
        open('new.txt', 'w').close()
    def tail(self):
        subprocess.run(['true'])
    def info(self):
        try:
            urllib.request.urlopen('http://a.invalid')
        except OSError:
            pass
    def keys(self):
        return open('other.csv').read()
    def plain(self):
        return open('data.csv').read() + str(os.listdir('.'))
t = Hidden()
"""
"""The person lets an earlier cell define this; a rule that reads code sees names alone."""
DEEDS: dict[str, tuple[Observation, ...]] = {
    "t.plain()": (),
    "t.head()": (Observation("writes", ("new.txt",)),),
    "t.tail()": (Observation("programs"),),
    "t.info()": (Observation("refused", ("a.invalid:80",)),),
    "t.keys()": (Observation("reads", ("other.csv",)),),
}


@asynccontextmanager
async def sandboxed(tmp_path: Path) -> AsyncIterator[ZmqKernel]:
    async with (
        kernel_manager(install(tmp_path, *NAMED, allow=["127.0.0.1:9"])) as kernels,
        running_kernel(kernels, "sandboxed") as (_, kernel, _),
    ):
        await run(kernel, HIDDEN)
        yield kernel


@runs_here
async def test_a_cell_that_does_more_than_its_rule_allows_ends_the_rule(
    tmp_path: Path, folder: Path
) -> None:
    for name in ("data.csv", "other.csv"):
        (folder / name).write_text("a\n1")
    store = SqliteStore(tmp_path / "sessions.db")
    async with sandboxed(tmp_path) as kernel:
        for code, deeds in DEEDS.items():
            script = [runs("open('data.csv').name"), runs(code), runs("b = 2"), say("Done.")]
            b = Bench(store, kernel, script, notebook("x = 20"))
            b.send()
            first = await b.draft()
            b.session.standing_rules.make(first.draft_id, first.nonce)
            b.decide(first)
            if deeds:
                asked = await b.draft(2)
                assert asked.source == "b = 2", code
                b.decide(asked, "reject")
            await b.ended()
            assert bool(b.session.standing_rules.all) is not bool(deeds), code
            assert b.of(e.ToolDone)[1].seen == deeds
            assert len(b.of(e.RuleRemoved)) == bool(deeds)
            await b.session.close()
    store.close()


@runs_here
@pytest.mark.parametrize("mode", ["review", "auto"])
async def test_what_a_run_did_is_on_its_card(tmp_path: Path, folder: Path, mode: e.Mode) -> None:
    store = SqliteStore(tmp_path / "sessions.db")
    made = [f"open('{number}.txt', 'w').close()" for number in range(7)]
    async with sandboxed(tmp_path) as kernel:
        b = Bench(store, kernel, [runs("\n".join(made)), runs("1"), say("Done.")], notebook("x"))
        b.send(mode=mode)
        for number in (1, 2) if mode == "review" else ():
            b.decide(await b.draft(number))
        await b.ended()
        names = tuple(f"{number}.txt" for number in range(5))
        assert [one.seen for one in b.of(e.ToolDone)] == [(Observation("writes", names, 2),), ()]
        await b.session.close()
    store.close()
