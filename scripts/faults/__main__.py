"""Disturbs a scripted turn with real faults, and judges the result. Fails if anything is lost,
doubled or misplaced without a statement."""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import signal
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from tests.fake_anthropic import FakeAnthropic, Speed

from .runs import FAULTS, Run, carry_out, undisturbed
from .site import Site
from .soak import soak
from .story import Story
from .verdict import Verdict

POINTS = {"server": 30, "kernel": 10, "socket": 30, "tab": 20}
FEW = {"server": 4, "kernel": 3, "socket": 6, "tab": 5}
SOAK = "soak"
LONG_SOAK, SHORT_SOAK = (500, 20), (10, 5)
"""Number of conversations, and of turns in each."""
GRACES = (0.3, 30.0)
"""Seconds of a server's grace: the first for runs with even seeds, the second for odd ones."""
SPEED = Speed(first=0.05, delay=0.01, chunk=16)


async def torture(faults: list[str], seeds: dict[str, list[int]], folder: Path) -> Verdicts:
    verdicts: Verdicts = {fault: [] for fault in faults}
    async with AsyncExitStack() as stack:
        api = await stack.enter_async_context(FakeAnthropic(Story("none").model, speed=SPEED))
        wanted = {GRACES[seed % 2] for fault in faults for seed in seeds[fault]}
        sites = {grace: Site(folder / f"grace-{grace}", api.url, grace) for grace in wanted}
        every = list(sites.values())
        for site in every:
            stack.push_async_callback(site.stop)
            await site.start()
        frames = await _measure(every[0], api)
        for fault in faults:
            for seed in seeds[fault]:
                rng = random.Random(f"{fault} {seed}")
                site = sites[GRACES[seed % 2]]
                began = time.monotonic()
                name = f"{fault}-{seed}"
                run, verdict = await carry_out(FAULTS[fault], name, site, api, rng, frames)
                verdicts[fault].append(verdict)
                _tell(fault, seed, run, verdict, time.monotonic() - began)
    return verdicts


Verdicts = dict[str, list[Verdict]]


async def _measure(site: Site, api: FakeAnthropic) -> dict[str, int]:
    """The number of frames of each kind in an undisturbed turn."""
    run, verdict = await carry_out(
        undisturbed, "undisturbed", site, api, random.Random("undisturbed"), {}
    )
    if verdict.failures or verdict.said or not verdict.as_expected:
        raise SystemExit(f"Even an undisturbed turn fails: {verdict}")
    return dict(run.page.taken)


def _tell(fault: str, seed: int, run: Run, verdict: Verdict, seconds: float) -> None:
    outcome = "as expected" if verdict.as_expected else "with a statement"
    said = f" [{', '.join(verdict.said)}]" if verdict.said else ""
    words = "; ".join(run.notes)
    failed = "".join(f"\n    {failure}" for failure in verdict.failures)
    if failed:
        outcome = f"FAILED: scripts/torture --seed {seed} --only {fault}"
    print(f"{fault} {seed} ({words}) {seconds:.1f} s: {outcome}{said}{failed}", flush=True)


def _told(verdicts: list[Verdict]) -> str:
    failed = sum(bool(verdict.failures) for verdict in verdicts)
    stated = sum(not verdict.failures and not verdict.as_expected for verdict in verdicts)
    good = len(verdicts) - failed - stated
    return f"{good} as expected, {stated} with a plain statement, {failed} otherwise"


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/torture", description=__doc__)
    every = [*FAULTS, SOAK]
    parser.add_argument("--only", nargs="+", choices=every, metavar="FAULT", help=", ".join(every))
    parser.add_argument("--seed", type=int, help="this one run of each fault")
    parser.add_argument("--short", action="store_true", help="fewer points, under five minutes")
    parser.add_argument("--keep", action="store_true", help="leave the servers' folders behind")
    options = parser.parse_args()
    # An exception, so that the servers are ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    chosen = options.only or every
    points = FEW if options.short else POINTS
    faults = [fault for fault in chosen if fault != SOAK]
    seeds = {fault: list(range(1, points[fault] + 1)) for fault in faults}
    if options.seed is not None:
        seeds = {fault: [options.seed] for fault in faults}
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="codeinterp-torture-"))
    try:
        verdicts = asyncio.run(torture(faults, seeds, folder)) if faults else {}
        soaks = SOAK in chosen and options.seed is None
        size = SHORT_SOAK if options.short else LONG_SOAK
        soaked = asyncio.run(soak(folder, *size)) if soaks else None
    finally:
        if options.keep:
            print(f"The servers' folders are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    seconds = time.monotonic() - began
    for fault, those in verdicts.items():
        print(f"{fault}: {_told(those)}")
    runs = [verdict for those in verdicts.values() for verdict in those]
    failed = sum(bool(verdict.failures) for verdict in runs)
    print(f"{len(runs) - failed} passed, {failed} failed in {seconds:.1f}s")
    if soaked is not None:
        print(soaked)
    return 1 if failed or (soaked is not None and soaked.failed) else 0


if __name__ == "__main__":
    sys.exit(main())
