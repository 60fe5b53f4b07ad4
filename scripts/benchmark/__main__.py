"""Measures what docs/performance.md promises. Fails if a bound is not met."""

from __future__ import annotations

import argparse
import signal
import sys

from . import (
    attach,
    browser,
    bundle,
    command_line,
    files,
    install,
    journal,
    magic,
    many,
    report,
    start,
    status,
    steps,
    task,
    wires,
)
from .figures import Figure

MEASUREMENTS = {
    "steps": steps.measure,
    "task": task.measure,
    "start": start.measure,
    "bundle": bundle.measure,
    "install": install.measure,
    "status": status.measure,
    "files": files.measure,
    "journal": journal.measure,
    "attach": attach.measure,
    "many": many.measure,
    "magic": magic.measure,
    "wires": wires.measure,
    "command_line": command_line.measure,
    "browser": browser.measure,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=MEASUREMENTS, metavar="NAME", help=", ".join(MEASUREMENTS)
    )
    parser.add_argument(
        "--write", action="store_true", help=f"renew the table in {report.DOCUMENT}"
    )
    options = parser.parse_args()
    if options.write and options.only:
        parser.error("--write needs all measurements")
    # An exception, so that the servers are ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    figures: list[Figure] = []
    for name in options.only or MEASUREMENTS:
        print(f"{name} …", file=sys.stderr, flush=True)
        figures += MEASUREMENTS[name]()
    print(report.markdown(figures))
    if options.write:
        report.write(figures)
    missed = [figure.name for figure in figures if not figure.met]
    if missed:
        print(f"Not met: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
