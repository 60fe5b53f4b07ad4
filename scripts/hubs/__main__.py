"""Two people on the hub of deploy/hub, for ``scripts/engines hub``."""

from __future__ import annotations

import asyncio
import sys

from . import two
from .checks import Checks


def main() -> int:
    checks = Checks()
    asyncio.run(two.look(checks))
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
