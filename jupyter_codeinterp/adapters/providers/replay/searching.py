"""A regular expression of a recording that anybody may have written, which may search for ever.

Python lets nothing else go on while it searches and cannot be told to stop. So that is done by a
process of its own, which ends in time.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import lru_cache
from typing import NamedTuple

LIMIT = 5.0
"""Seconds. Starting Python is most of what a search takes."""
_SEARCH = """\
import json, re, sys
found = re.search(*json.load(sys.stdin), re.MULTILINE)
print(json.dumps(found and [found[0], found.groupdict()]))
"""


class Found(NamedTuple):
    text: str
    groups: dict[str, str]


def search(pattern: str, text: str) -> Found | None:
    """By a pattern of this package."""
    found = re.search(pattern, text, re.MULTILINE)
    return found and Found(found[0], found.groupdict())


@lru_cache(maxsize=200)
def bounded_search(pattern: str, text: str) -> Found | None:
    """None as well where it takes too long, or fails."""
    command = [sys.executable, "-I", "-c", _SEARCH]
    given = json.dumps([pattern, text])
    try:
        ran = subprocess.run(
            command, input=given, capture_output=True, text=True, timeout=LIMIT, check=True
        )
    except (subprocess.SubprocessError, OSError):
        return None
    found = json.loads(ran.stdout)
    return found and Found(*found)
