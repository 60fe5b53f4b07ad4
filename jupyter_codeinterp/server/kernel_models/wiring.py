"""What the extension does for its kernels, in one place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join

from ...core.redaction.secrets import Secrets
from ..models import Models
from .tokens import KernelTokens

_HERE = ("", "*", "0.0.0.0", "localhost", "127.0.0.1")
_HERE_6 = ("::", "::1")


def settings(
    server: ServerApp,
    models: Models,
    secrets: Secrets,
    *,
    allowed: Sequence[str] | None,
    most: float | None,
    keep_keys: bool,
    remove: Sequence[str],
) -> dict[str, Any]:
    """For the handlers. From now on kernels are started with a token."""
    tokens = KernelTokens(
        server.kernel_manager,
        url=lambda: address(server),
        model=lambda: models.default,
        learn=secrets.add,
        key_variables=models.key_variables,
        keep_keys=keep_keys,
        remove=remove,
        most=most,
    )
    if not server.gateway_config.gateway_enabled:
        tokens.hand_over()  # Kernels of a gateway are elsewhere.
    return {
        "codeinterp_kernel_tokens": tokens,
        "codeinterp_kernel_models": None if allowed is None else tuple(allowed),
    }


def address(server: ServerApp) -> str:
    """Where a kernel of this machine reaches the model endpoint; "" if it cannot: a certificate
    is rarely one for this machine's own name, and a socket has no address."""
    if server.sock or server.certfile or not server.port:
        return ""
    ip = server.ip
    host = "127.0.0.1" if ip in _HERE else "[::1]" if ip in _HERE_6 else ip
    path = url_path_join(server.base_url, "codeinterp", "api", "model")
    return f"http://{host}:{server.port}{path}"
