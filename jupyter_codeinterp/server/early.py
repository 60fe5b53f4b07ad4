"""Most imports of the whole extension: not at the server's start, and not on the event loop."""

from __future__ import annotations

import asyncio
from importlib import import_module

NOT_AT_THE_START = (
    "jupyter_codeinterp.core.session.service",
    "jupyter_codeinterp.adapters.kernels.zmq",
    "jupyter_codeinterp.adapters.providers.anthropic.model",
)


def import_early() -> None:
    """Before they are needed, in threads."""
    for name in NOT_AT_THE_START:
        asyncio.get_running_loop().run_in_executor(None, import_module, name)
