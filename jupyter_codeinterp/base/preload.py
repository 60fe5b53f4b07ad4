"""Imports the heavy modules in threads, after the server's start and off the event loop."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable
from importlib import import_module

NOT_AT_THE_START = (
    "jupyter_codeinterp.session.server.service",
    "jupyter_codeinterp.kernel.zmq",
    "jupyter_codeinterp.models.anthropic.messages",
    "jupyter_codeinterp.server.socket.connection",
)


def preload(*others: Callable[[], object]) -> None:
    """Import the modules and call ``others``, in threads, before anything needs them."""
    run = asyncio.get_running_loop().run_in_executor
    for name in NOT_AT_THE_START:
        run(None, import_module, name).add_done_callback(lambda _: freeze())
    for make in others:
        run(None, make)


class _Frozen:
    modules = 0


def freeze() -> None:
    """Exclude the objects of new imports from garbage collection.

    They are permanent and, with a model's SDK, most of the server's objects. Each full collection
    would visit them and stop the server for 0.2 s.
    """
    if len(sys.modules) != _Frozen.modules:
        _Frozen.modules = len(sys.modules)
        gc.collect()  # Frozen garbage would never be freed.
        gc.freeze()
        # Python runs a full collection after a growth of 25 % since the last one. Collect now, so
        # that this count excludes frozen objects; else the next run would be hundreds of
        # conversations away.
        gc.collect()
