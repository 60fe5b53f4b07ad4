"""Tries to get out of a sandboxed kernel, and prints the results. Fails if an attempt got out."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from jupyter_codeinterp.sandbox import doctor
from scripts.benchmark.figures import table

from .attempt import Control
from .attempts import AREAS
from .running import Result, results


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/escape", description=__doc__)
    parser.add_argument("areas", nargs="*", metavar="AREA", help=", ".join(AREAS))
    areas: list[str] = parser.parse_args().areas or list(AREAS)
    if unknown := [one for one in areas if one not in AREAS]:
        parser.error(f"no areas: {', '.join(unknown)}")
    missing = doctor.problem()
    if missing:
        parser.error(missing)
    began = time.monotonic()
    found = asyncio.run(results(areas))
    held = [
        (one.area, one.attempt.name, "NOT HELD" if one.got_out else "held", _compared(one))
        for one in found
    ]
    print(table([("area", "attempt", "here", "outside of a sandbox"), *held]))
    faults = [one for one in found if one.fault]
    for one in faults:
        print(f"{one.area}: {one.attempt.name}: {one.fault}", file=sys.stderr)
    seconds = time.monotonic() - began
    print(f"{len(found) - len(faults)} passed, {len(faults)} failed in {seconds:.1f}s")
    return 1 if faults else 0


def _compared(one: Result) -> str:
    if one.outside is None:
        return "root only" if one.attempt.control is Control.ROOT else "not tried"
    return "succeeds" if one.outside else "fails here, too"


if __name__ == "__main__":
    sys.exit(main())
