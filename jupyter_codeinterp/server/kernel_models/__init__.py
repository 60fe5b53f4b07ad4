"""Models for ``%%ai`` in kernels, with a token per kernel instead of keys.

tokens.py      tokens, and the kernels' environment
handler.py     routes; ``models/jupyter_server.py`` is the kernel's end

The server's start needs this file alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

    from .tokens import KernelTokens


def wrap_start_kernel(server: ServerApp, tokens: Callable[[], KernelTokens]) -> None:
    """Wrap the kernel manager's ``start_kernel``, to give each new kernel a token."""
    if server.gateway_config.gateway_enabled:
        return  # A gateway's kernels run elsewhere.
    kernels: Any = server.kernel_manager
    start = kernels.start_kernel

    async def start_kernel(*args: Any, **given: Any) -> Any:
        return await tokens().start(start, *args, **given)

    kernels.start_kernel = start_kernel
