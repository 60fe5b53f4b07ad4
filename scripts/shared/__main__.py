"""Notebooks that several people share, for ``scripts/engines``."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import tempfile
from pathlib import Path

from scripts.hubs.checks import Checks
from tests.fake_anthropic import FakeAnthropic
from tests.fake_anthropic.scenarios import SCENARIOS
from tests.fake_anthropic.scripts import by_words, echo, scenario
from tests.fake_anthropic.turns import answer, run_cell, text

from .pages import Pages, StepFailed, browsers
from .site import COLLABORATION, SERVER_DOCUMENTS, Site
from .stories import STORIES

SLEEP = "import time\n\nprint('before', flush=True)\ntime.sleep(10)\nprint('after')"
OWN = {"ten_seconds": scenario(answer(run_cell(SLEEP, title="Wait")), answer(text("Waited.")))}
GRACE = {"CodeInterp.window_grace": 5}
ENGINES = {
    COLLABORATION: {**GRACE, "YDocExtension.document_cleanup_delay": 2},
    SERVER_DOCUMENTS: {
        **GRACE,
        "YRoom.inactivity_timeout": 2,
        "YRoomManager.auto_free_interval": 2,
    },
}
"""Settings by environment, all in seconds; people wait longer."""


async def _show(pages: Pages) -> None:
    """Print what each person has in front of them, to find the cause."""
    for who in ("ada", "bert"):
        for step in ("panel", "cells"):
            with contextlib.suppress(StepFailed):
                print(who, step, await pages.do(who, step), sep=": ")
    print("errors:", await pages.do("ada", "errors"))


async def look(checks: Checks, names: list[str], environment: Path) -> None:
    for name in names:
        story = STORIES[name]
        print((story.__doc__ or name).splitlines()[0], flush=True)
        with tempfile.TemporaryDirectory(
            prefix="codeinterp-rooms-", ignore_cleanup_errors=True
        ) as folder:
            async with FakeAnthropic(by_words({**SCENARIOS, **OWN}, otherwise=echo)) as model:
                site = Site(Path(folder), model.url, ENGINES[environment], environment)
                try:
                    await site.start()
                    async with browsers() as pages:
                        try:
                            await story(checks, site, pages)
                        except StepFailed:
                            await _show(pages)
                            raise
                except Exception:
                    print(site.log.read_text()[-6000:])
                    raise
                finally:
                    await site.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/engines")
    parser.add_argument("--only", choices=STORIES, help="one of the stories")
    parser.add_argument("engine", choices=[one.name for one in ENGINES])
    options = parser.parse_args()
    checks = Checks()
    environment = next(one for one in ENGINES if one.name == options.engine)
    names = [options.only] if options.only else list(STORIES)
    asyncio.run(look(checks, names, environment))
    print(f"{checks.count - len(checks.failed)} of {checks.count} held")
    for failed in checks.failed:
        print(f"FAILED: {failed}")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
