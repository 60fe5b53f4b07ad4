"""The faults, each at a point of the turn that its seed chooses."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from jupyter_codeinterp.wire.events import Mode
from tests.fake_anthropic import Exchange, FakeAnthropic

from .page import Page
from .person import answered, ask, begin, begin_to_go_on, run_cells, see_it_through, type_something
from .points import Point, Trigger, choose
from .site import Site
from .story import ASK, Story, opening_notebook
from .verdict import Journal, Kill, Verdict, judge, read_notebook

RESTORED = "Jupyter takes back a save that was cut off"
AWAY = 3.0
"""Maximum seconds that a page is away."""


@dataclass
class Run:
    """One turn with one fault. ``rng`` makes all random choices."""

    site: Site
    api: FakeAnthropic
    story: Story
    rng: random.Random
    frames: Mapping[str, int]
    """Frames of an undisturbed turn, by kind; empty for a run without a fault."""
    point: Point = field(init=False)
    mode: Mode = "auto"
    pages: list[Page] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """The random choices, for a repetition."""
    said: list[str] = field(default_factory=list)
    """Plain statements outside the conversation."""
    kills: list[Kill] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.frames:
            self.aim()

    def may_review(self) -> None:
        if self.chance("Review mode", 1 / 5):
            self.mode = "review"

    def aim(self) -> None:
        self.point = choose(self.rng, self.frames)
        self.notes.append(str(self.point))

    @property
    def page(self) -> Page:
        return self.pages[-1]

    def chance(self, words: str, share: float) -> bool:
        """Whether this happens in this run, by chance."""
        happens = self.rng.random() < share
        if happens:
            self.notes.append(words)
        return happens

    async def open(self) -> None:
        kernel_id = await self.site.start_kernel(self.story.notebook)
        self.pages.append(await Page.load(self.site, self.story.notebook, kernel_id))
        self.page.mode = self.mode

    async def struck(self, strike: Callable[[], None], *, cuts: bool = True) -> None:
        """Let the turn run until the fault."""
        trigger = self.page.trigger = Trigger(self.point, strike, cuts=cuts)
        await asyncio.wait_for(asyncio.shield(trigger.struck), 60)

    def kill(self) -> None:
        self.site.kill()
        self.kills.append(Kill(time.monotonic(), self.page.turns))

    def look_at_the_file(self) -> None:
        """Check the file. While Jupyter saves, the earlier version is beside the file, and Jupyter
        reads that if the file is broken."""
        file = self.site.notebooks / self.story.notebook
        _, why_not = read_notebook(file)
        if not why_not:
            return
        self.said.append(RESTORED)
        _, why_not = read_notebook(file.with_name(f".~{file.name}"))
        if why_not:
            self.page.wrong.append(f"after the fault {why_not}, and the earlier version, too")

    async def find_conversation(self) -> bool:
        """Find the conversation as the panel does for the notebook in front; False without one."""
        if not self.page.session_id:
            route = f"codeinterp/api/sessions?notebook={self.story.notebook}"
            found = (await self.site.fetch("GET", route))["sessions"]
            if found:
                self.page.session_id = found[0]["session_id"]
                await self.page.follow()
        return bool(self.page.session_id)

    async def find_or_ask(self) -> None:
        """Find the conversation, or ask again, because the message may have been lost."""
        if not await self.find_conversation():
            await ask(self.page, ASK)


# --- the faults --------------------------------------------------------------------------


async def undisturbed(run: Run) -> None:
    await run.open()
    await begin(run.page)


async def server(run: Run) -> None:
    """Kill and restart the server, in some runs twice. The page usually stays open; in some runs it
    closes too, before or after, and loses unsaved work."""
    run.may_review()
    goes_before = run.site.grace < AWAY and run.chance("the page closes before", 1 / 3)
    page_goes = goes_before or run.chance("the page closes, too", 1 / 3)
    twice = run.chance("twice", 1 / 4)
    await run.open()
    if page_goes:
        run.page.saves = not run.chance("nothing was saved", 1 / 2)
    await begin(run.page)
    if goes_before:
        await run.struck(run.page.cut)
        await run.page.leave()
        await asyncio.sleep(run.rng.uniform(0, AWAY / 2))
        run.kill()
    else:
        await run.struck(run.kill)
    await _start_again(run, page_goes)
    if twice and run.page.ended is not None and not answered(run.page):
        run.aim()
        await begin_to_go_on(run.page)
        await run.struck(run.kill)
        await _start_again(run, page_goes)
    await run.find_or_ask()


async def _start_again(run: Run, page_goes: bool) -> None:
    """Start the server and a kernel, and run the cells above by hand."""
    run.page.cut()
    await run.site.gone()
    run.look_at_the_file()
    await run.site.start()
    if page_goes:
        await run.page.leave()
        await run.open()
    else:
        await run.page.reconnect()
        await run.page.have_kernel(await run.site.start_kernel(run.story.notebook))
    if await run.find_conversation():
        await run.page.until(lambda: run.page.ended is not None)
    if run.chance("the cell that was cut off is run, too", 1 / 2):
        await run_cells(run.page, lambda cell: True)
    else:
        await run_cells(run.page, lambda cell: cell["execution_count"] is not None)
    if run.chance("saved before continuing", 1 / 2):
        await run.page.saved()


async def kernel(run: Run) -> None:
    """Kill the kernel; the server starts another one by itself."""
    run.may_review()
    await run.open()
    await begin(run.page)
    await run.struck(lambda: run.site.kill_kernel(run.page.kernel_id), cuts=False)


async def socket(run: Run) -> None:
    """Cut the socket; the same page opens it again."""
    run.may_review()
    await run.open()
    await begin(run.page)
    if run.chance("typing", 1 / 4):
        await type_something(run.page)
    await _cut(run)
    if run.chance("twice", 1 / 4) and run.page.ended is None:
        run.aim()
        await _cut(run)


async def _cut(run: Run) -> None:
    await run.struck(run.page.cut)
    await _be_away(run)
    await run.page.reconnect()
    await run.find_or_ask()


async def tab(run: Run) -> None:
    """Close the page, with its unsaved work. A new page reads the file."""
    await run.open()
    run.page.saves = False
    await begin(run.page)
    if run.chance("typing", 1 / 6):
        await type_something(run.page)
    await run.struck(run.page.cut)
    await run.page.leave()
    if run.site.grace < AWAY:
        run.notes.append("until the turn has ended")
        await _turn_over(run)
    else:
        await _be_away(run)
    await run.open()
    await run.find_or_ask()


async def _be_away(run: Run) -> None:
    """Stay away, often for about as long as the server waits, if that is short."""
    grace = run.site.grace
    near = grace < AWAY and run.rng.random() < 0.6
    away = run.rng.uniform(grace / 2, grace * 3) if near else run.rng.uniform(0, AWAY)
    run.notes.append(f"away for {away:.1f} s")
    await asyncio.sleep(away)


async def _turn_over(run: Run) -> None:
    """Wait for the end of the turn, as another page of the same server would see it."""
    route = f"codeinterp/api/sessions?notebook={run.story.notebook}"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        found = (await run.site.fetch("GET", route))["sessions"]
        if found and not found[0]["running"]:
            return
        await asyncio.sleep(0.2)
    run.page.wrong.append("the turn does not end in the file")


FAULTS: Mapping[str, Callable[[Run], Awaitable[None]]] = {
    "server": server,
    "kernel": kernel,
    "socket": socket,
    "tab": tab,
}


# --- one run -----------------------------------------------------------------------------


async def carry_out(
    fault: Callable[[Run], Awaitable[None]],
    name: str,
    site: Site,
    api: FakeAnthropic,
    rng: random.Random,
    frames: Mapping[str, int],
) -> tuple[Run, Verdict]:
    """``frames``: the frames of an undisturbed turn."""
    story = Story(name)
    file = site.notebooks / story.notebook
    file.write_text(json.dumps(opening_notebook()), encoding="utf-8")
    api.play(story.model)
    run = Run(site, api, story, rng, frames)
    violations, exchanges = len(api.violations), len(api.requests)
    logged = site.log.stat().st_size
    wrong: list[str] = []
    try:
        await fault(run)
        await see_it_through(run.page)
        await run.page.saved()
    except Exception as error:
        wrong.append(f"{type(error).__name__}: {error}")
    verdict = _judge(run, api.requests[exchanges:])
    verdict.wrong += wrong + api.violations[violations:] + _tracebacks(site, logged)
    for page in run.pages:
        await page.leave()
    return run, verdict


def _judge(run: Run, exchanges: list[Exchange]) -> Verdict:
    if not run.pages or not run.page.session_id:
        return Verdict(wrong=["there is no conversation"])
    journal = Journal.read(run.site.journal, run.page.session_id)
    verdict = judge(run.story, run.site.notebooks, journal, run.pages, exchanges, run.kills)
    verdict.said += run.said
    return verdict


def _tracebacks(site: Site, since: int) -> list[str]:
    """Exceptions from our own code in the server's log."""
    with site.log.open("rb") as log:
        log.seek(since)
        text = log.read().decode(errors="replace")
    parts = text.split("Traceback (most recent call last)")[1:]
    ours = (part for part in parts if "jupyter_codeinterp" in part)
    lines = ([line for line in part.split("\n") if line and line[0] not in " \t"] for part in ours)
    return [f"in the log: {found[0]:.200}" for found in lines if found]
