"""Tries to get out of a sandboxed kernel, and prints what held. Fails if something did not."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from jupyter_codeinterp.sandbox import doctor
from jupyter_codeinterp.sandbox.walls.names import BUBBLEWRAP, LANDLOCK

from . import report
from .attempts import AREAS, NOT_OF
from .running import results


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/escape", description=__doc__)
    parser.add_argument(
        "--only", nargs="+", choices=AREAS, metavar="AREA", default=AREAS, help=", ".join(AREAS)
    )
    parser.add_argument(
        "--wall", choices=(BUBBLEWRAP, LANDLOCK), default=BUBBLEWRAP, help="what holds the kernels"
    )
    parser.add_argument("--keep", type=Path, metavar="FILE", help="keep what was found in a file")
    parser.add_argument(
        "--beside", type=Path, metavar="FILE", help="show it beside what another user's run kept"
    )
    parser.add_argument(
        "--write", action="store_true", help=f"renew the table in {report.DOCUMENT}"
    )
    options = parser.parse_args()
    missing = doctor.problem_of(options.wall)
    if missing:
        parser.error(missing)
    began = time.monotonic()
    areas = [one for one in options.only if one not in NOT_OF.get(options.wall, ())]
    found = asyncio.run(results(areas, wall=options.wall))
    text = report.markdown(found, report.read(options.beside), options.wall)
    print(f"{text}\n")
    if options.keep:
        report.keep(found, options.keep)
    if options.write:
        report.write(text, options.wall)
    faults = [one for one in found if one.fault]
    for one in faults:
        print(f"{one.area}: {one.attempt.name}: {one.fault}", file=sys.stderr)
    seconds = time.monotonic() - began
    print(f"{len(found) - len(faults)} passed, {len(faults)} failed in {seconds:.1f}s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
