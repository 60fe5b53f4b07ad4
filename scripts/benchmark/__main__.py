"""Measures what docs/performance.md promises. Fails if a bound is not met."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable

from . import (
    attach,
    browser,
    bundle,
    files,
    gateway,
    install,
    journal,
    many,
    outputs,
    room,
    sandbox,
    start,
    status,
    steps,
    task,
    watch,
)
from .figures import Figure, table

MEASUREMENTS: dict[str, Callable[[], list[Figure]]] = {
    "steps": steps.measure,
    "task": task.measure,
    "start": start.measure,
    "bundle": bundle.measure,
    "install": install.measure,
    "status": status.measure,
    "watch": watch.measure,
    "files": files.measure,
    "journal": journal.measure,
    "outputs": outputs.measure,
    "attach": attach.measure,
    "many": many.measure,
    "room": room.measure,
    "gateway": gateway.measure,
    "sandbox": sandbox.measure,
    "browser": browser.measure,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=MEASUREMENTS, metavar="NAME", help=", ".join(MEASUREMENTS)
    )
    options = parser.parse_args()
    # An exception, so that the servers are ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    figures: list[Figure] = []
    for name in options.only or MEASUREMENTS:
        print(f"{name} …", file=sys.stderr, flush=True)
        figures += MEASUREMENTS[name]()
    print(table([("figure", "measured", "bound", "met"), *(figure.row for figure in figures)]))
    missed = [figure.name for figure in figures if not figure.met]
    if missed:
        print(f"Bound not met: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
