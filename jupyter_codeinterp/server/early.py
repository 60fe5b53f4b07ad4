"""Most imports of the whole extension: not at the server's start, and not on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module

NOT_AT_THE_START = (
    "jupyter_codeinterp.core.session.service",
    "jupyter_codeinterp.adapters.kernels.zmq",
    "jupyter_codeinterp.adapters.providers.anthropic.model",
)


def import_early(*others: Callable[[], object]) -> None:
    """Before they are needed, in threads; and what makes ``others``, which are then kept."""
    run = asyncio.get_running_loop().run_in_executor
    for name in NOT_AT_THE_START:
        run(None, import_module, name)
    for make in others:
        run(None, make)
