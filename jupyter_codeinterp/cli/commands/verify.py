"""``verify``: runs a notebook in a fresh kernel and compares its outputs."""

from __future__ import annotations

import argparse
import asyncio
import sys

import msgspec

from ...app import config as config_files
from ...base.errors import CommandError
from ...base.sentences import in_english
from ...base.visible import visible_line
from ...run.verify.verification import CellLine, Verification, counted
from ...wire.ops import called
from ..local.bench import LocalBench
from ..local.place import check, place_of
from ..local.problems import DONE, FAILED, INTERRUPTED, USAGE, Problem
from ..terminal.stopping import Stopping

MARKS = {"same": "✓", "new": "✓", "differs": "≠", "failed": "✗", "skipped": "·"}
WORDS = {
    "new": "ran; no earlier output",
    "differs": "differs",
    "failed": "failed",
    "skipped": "not run",
    "same": "same",
}
_REFUSED = ("in_folder", "malformed", "not_allowed", "no_such_kernel", "unknown_notebook")


def verify(options: argparse.Namespace, stopping: Stopping) -> int:
    return asyncio.run(_verify(options, stopping))


async def _verify(options: argparse.Namespace, stopping: Stopping) -> int:
    config = config_files.load()
    settings = config_files.settings(config)
    place = place_of(options.notebook)
    check(place.file, written=False)
    async with LocalBench(config, settings, place.root) as bench:
        verifier = bench.verifier
        specs = await bench.notebook_kernels.specs() if options.kernel else {}
        if options.kernel and options.kernel not in specs:
            words = f"There is no kernel {options.kernel!r} here. Installed: {', '.join(specs)}."
            raise Problem(words, USAGE)
        try:
            now = await verifier.start(place.path, in_place=options.in_place, kernel=options.kernel)
        except CommandError as error:
            hint = " Add --in-place." if error.code == "in_folder" else ""
            code = USAGE if error.code in _REFUSED else FAILED
            raise Problem(f"{error.message}{hint}", code) from None
        with stopping.by(
            lambda: asyncio.ensure_future(verifier.cancel(place.path)), bench.kernels.kill
        ):
            if options.json:
                now = await verifier.ended(place.path)
            else:
                now = await _follow(bench, now)
    if options.json:
        print(msgspec.json.encode(now, enc_hook=in_english).decode(), flush=True)
    else:
        _end(now)
    if now.state == "cancelled":
        return INTERRUPTED
    return DONE if now.good else FAILED


async def _follow(bench: LocalBench, now: Verification) -> Verification:
    """Print each cell as it ends."""
    shown = _show(now, 0)
    while now.state == "running":
        now = await bench.verifier.changed(now.notebook, now.version) or now
        shown = _show(now, shown)
    return now


def _show(now: Verification, shown: int) -> int:
    """Print the cells that have ended since. Return the number of cells printed so far."""
    for line in now.cells[shown:]:
        if line.status in ("waiting", "running"):
            break
        _print(line)
        shown += 1
    return shown


def _print(line: CellLine) -> None:
    head = f"{MARKS[line.status]} {called(line.number)} {WORDS[line.status]}: {line.title}"
    print(visible_line(head))
    if line.status == "differs":
        print(f"    old: {visible_line(line.old or '(nothing)')}")
        print(f"    new: {visible_line(line.new or '(nothing)')}")
    for text in line.text.split("\n") if line.text else ():
        print(f"    {visible_line(text)}")
    sys.stdout.flush()


def _end(now: Verification) -> None:
    if now.words or now.state == "cancelled":
        print(visible_line(now.words or "Cancelled."))
    counts = counted(now.cells)
    print(", ".join(f"{counts[name]} {WORDS[name]}" for name in MARKS if name in counts) + ".")
