"""Measures what docs/performance.md promises. Fails if a bound is not met, or if a figure is worse
than the last one kept by more than its noise."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable

from . import (
    answers,
    attach,
    browser,
    bundle,
    files,
    gateway,
    install,
    journal,
    last,
    magic,
    many,
    outputs,
    report,
    room,
    sandbox,
    start,
    status,
    steps,
    task,
    watch,
    wires,
)
from .figures import Figure, Kept
from .last import Groups
from .pace import pace

MEASUREMENTS: dict[str, Callable[[], list[Figure]]] = {
    "steps": steps.measure,
    "task": task.measure,
    "start": start.measure,
    "bundle": bundle.measure,
    "install": install.measure,
    "status": status.measure,
    "watch": watch.measure,
    "answers": answers.measure,
    "files": files.measure,
    "journal": journal.measure,
    "outputs": outputs.measure,
    "attach": attach.measure,
    "many": many.measure,
    "room": room.measure,
    "gateway": gateway.measure,
    "magic": magic.measure,
    "sandbox": sandbox.measure,
    "wires": wires.measure,
    "browser": browser.measure,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=MEASUREMENTS, metavar="NAME", help=", ".join(MEASUREMENTS)
    )
    parser.add_argument(
        "--write", action="store_true", help=f"keep the figures, and renew {report.DOCUMENT}"
    )
    options = parser.parse_args()
    # An exception, so that the servers are ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    before = last.read()
    figures = {name: _measured(name) for name in options.only or MEASUREMENTS}
    print(report.markdown(figures, before))
    if options.write:
        both = {**before, **figures}
        kept = {name: both[name] for name in MEASUREMENTS if name in both}
        last.write(kept)
        if len(kept) == len(MEASUREMENTS):
            report.write(kept)
        else:
            print(f"{report.DOCUMENT} waits for all measurements.", file=sys.stderr)
    return verdict(figures, before, accepted=options.write)


def _measured(name: str) -> list[Kept]:
    """Times are in paces of the machine as it was just before and just after."""
    paces = [pace()]
    print(f"{name} … (a pace is {paces[0]:.2f} ms)", file=sys.stderr, flush=True)
    figures = MEASUREMENTS[name]()
    paces.append(pace())
    return [figure.kept(sum(paces) / 2) for figure in figures]


def verdict(figures: Groups, before: Groups, accepted: bool) -> int:
    """Whoever writes the figures has accepted them; bounds hold all the same."""
    known = {figure.name: figure for group in before.values() for figure in group}
    measured = [figure for group in figures.values() for figure in group]
    missed = [figure.name for figure in measured if not figure.met]
    worse = [figure.name for figure in measured if figure.worse_than(known.get(figure.name))]
    for names, said in ((missed, "Bound not met"), (worse, "Worse than the last time")):
        if names:
            print(f"{said}: {', '.join(names)}", file=sys.stderr)
    return 1 if missed or (worse and not accepted) else 0


if __name__ == "__main__":
    sys.exit(main())
