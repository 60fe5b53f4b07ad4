"""Gives tokens to the server's kernels. Runs at the server's start: keep the imports few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join

if TYPE_CHECKING:
    from ...core.redaction.secrets import Secrets
    from ..models import Models
    from .tokens import KernelTokens

_HERE = ("", "*", "0.0.0.0", "localhost", "127.0.0.1")
_HERE_6 = ("::", "::1")


def wrap_start_kernel(server: ServerApp, tokens: Callable[[], KernelTokens]) -> None:
    """Wrap the kernel manager's ``start_kernel``, to give each new kernel a token."""
    if server.gateway_config.gateway_enabled:
        return  # A gateway's kernels run elsewhere.
    kernels: Any = server.kernel_manager
    start = kernels.start_kernel

    async def start_kernel(*args: Any, **given: Any) -> Any:
        return await tokens().start(start, *args, **given)

    kernels.start_kernel = start_kernel


def make_tokens(
    server: ServerApp,
    models: Models,
    secrets: Secrets,
    *,
    most: float | None,
    keep_keys: bool,
    remove: Sequence[str],
) -> KernelTokens:
    from .tokens import KernelTokens

    return KernelTokens(
        server.kernel_manager,
        url=lambda: address(server),
        model=lambda: models.default,
        learn=secrets.add,
        forget=secrets.forget,
        key_variables=models.key_variables,
        keep_keys=keep_keys,
        remove=remove,
        most=most,
    )


def address(server: ServerApp) -> str:
    """The model endpoint's URL for kernels on this machine; "" if unreachable. A TLS certificate
    rarely covers this machine's local name, and a Unix socket has no URL."""
    if server.sock or server.certfile or not server.port:
        return ""
    ip = server.ip
    host = "127.0.0.1" if ip in _HERE else "[::1]" if ip in _HERE_6 else ip
    path = url_path_join(server.base_url, "codeinterp", "api", "model")
    return f"http://{host}:{server.port}{path}"
