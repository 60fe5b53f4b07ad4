"""Two people on the hub of deploy/hub, for ``scripts/engines hub``."""

from __future__ import annotations

import asyncio
import sys

from . import two
from .checks import Checks


def main() -> int:
    checks = Checks()
    asyncio.run(two.look(checks))
    print(f"{checks.count - len(checks.failed)} of {checks.count} held")
    for failed in checks.failed:
        print(f"FAILED: {failed}")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
