"""Several people on the hub of deploy/hub, see scripts/hub."""

from __future__ import annotations

import argparse
import asyncio
import sys

from .checks import Checks

PARTS = ("http", "browser", "idle", "remote")


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/hub")
    parser.add_argument("--load", type=int, metavar="PEOPLE", help="a turn each, at once")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    parser.add_argument("--only", choices=PARTS, help="a part of the checks")
    options = parser.parse_args()
    if options.load:
        from . import load

        asyncio.run(load.measure(options.load, write=options.write))
        return 0
    checks = Checks()
    if options.only in (None, "http", "browser"):
        from . import two

        asyncio.run(two.look(checks, options.only or ""))
    if options.only in (None, "idle"):
        from . import idle

        asyncio.run(idle.look(checks))
    if options.only in (None, "remote"):
        from . import remote

        asyncio.run(remote.look(checks))
    print(f"{checks.count - len(checks.failed)} of {checks.count} held")
    for failed in checks.failed:
        print(f"FAILED: {failed}")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
