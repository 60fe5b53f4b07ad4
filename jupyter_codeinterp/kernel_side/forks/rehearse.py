"""A rehearsal: a cell in a fork of the live kernel that is thrown away. This file's text runs
**in the kernel**, whose main thread waits for the end.

The answer is JSON: ``{refused, detail}``, or ``how`` it ended (see ``follow.py``), ``messages`` as
the kernel would have published them, what ``native`` code printed, ``seconds``, and, where the
code came to an end, ``success``, ``stopped``, ``changes`` and ``reached``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from .child import live
from .follow import follow
from .preflight import refusal


def answer(code: str, seconds: float) -> str:
    return json.dumps(rehearsed(sys.modules["IPython"].get_ipython(), code, seconds))


def rehearsed(shell: Any, code: str, seconds: float) -> dict[str, Any]:
    refused = refusal()
    if refused:
        return dict(refused)

    def in_fork(lines: int, native: int, state: Any) -> None:
        live(shell, code, lines, native, seconds, state)

    followed = follow(in_fork, seconds)
    told = {name: followed[name] for name in ("how", "native", "seconds")}
    told["messages"] = []
    for kind, content in followed["lines"]:
        if kind == "refused":
            return dict(content)
        if kind == "ended":
            told.update(content)
        else:
            told["messages"].append([kind, content])
    return told
