"""Tokens for kernels, valid for model calls while the kernel exists.

Code in the kernel can read its token, so this limits what the token allows. The server keeps only
a hash, redacts the token and never logs it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jupyter_core.utils import ensure_async
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join

from ...kernel.inside.mark import MODEL, TOKEN, URL

if TYPE_CHECKING:
    from ...models.offered import Models
    from ...view.redaction.secrets import Secrets

_HERE = ("", "*", "0.0.0.0", "localhost", "127.0.0.1")
_HERE_6 = ("::", "::1")
HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
"""A variable with headers for requests, which may contain a key."""


@dataclass
class Grant:
    """A token's kernel. ``kernel_id``: "" until the start. ``forget`` removes the token from
    redaction."""

    kernel_id: str = ""
    starting: bool = True
    forget: Callable[[], None] = lambda: None


class KernelTokens:
    def __init__(
        self,
        server: ServerApp,
        models: Models,
        secrets: Secrets,
        *,
        keep_keys: bool,
        remove: Iterable[str],
    ) -> None:
        """Set up tokens for the kernels of ``server``.

        secrets    redacts each token until its kernel's end
        keep_keys  whether kernels get the variables with keys of models
        remove     environment variables that kernels never get
        """
        self._server = server
        self._kernels: Any = server.kernel_manager
        self._models = models
        self._secrets = secrets
        self._keep_keys = keep_keys
        self._remove = tuple(remove)
        self._grants: dict[bytes, Grant] = {}

    async def start(self, start: Callable[..., Any], *args: Any, **given: Any) -> Any:
        """Call the kernel manager's ``start``, with a token in the environment and without removed
        variables. A restarted kernel keeps its environment."""
        known = given.get("kernel_id")
        if known is not None and known in self._kernels:
            return await ensure_async(start(*args, **given))
        grant = Grant()
        given["env"] = self._environment(given.get("env"), grant)
        try:
            kernel_id = await ensure_async(start(*args, **given))
            grant.kernel_id = str(kernel_id)
        finally:
            grant.starting = False
            self._forget_dead()
        return kernel_id

    def _environment(self, given: dict[str, str] | None, grant: Grant) -> dict[str, str]:
        env = dict(os.environ if given is None else given)
        keys = () if self._keep_keys else (*self._models.key_variables(), HEADERS)
        above = (TOKEN, URL, MODEL)  # of the server that started this one
        for name in (*self._remove, *keys, *above):
            env.pop(name, None)
        url = address(self._server)
        if url:
            token = token_urlsafe(32)
            self._secrets.add(token)
            self._grants[_hash(token)] = grant
            grant.forget = partial(self._secrets.forget, token)
            env.update({TOKEN: token, URL: url, MODEL: self._models.default})
            # Bypass a proxy, which would see the token.
            host = urlsplit(url).hostname or ""
            for name in ("NO_PROXY", "no_proxy"):
                env[name] = ",".join(filter(None, (env.get(name, ""), host)))
        return env

    def knows(self, token: str) -> bool:
        """Whether the token belongs to a running kernel."""
        grant = self._grants.get(_hash(token))
        return grant is not None and grant.kernel_id in self._kernels

    def _forget_dead(self) -> None:
        for key, grant in list(self._grants.items()):
            if not (grant.starting or grant.kernel_id in self._kernels):
                del self._grants[key]
                grant.forget()


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def address(server: ServerApp) -> str:
    """The model endpoint's URL for kernels on this machine; "" if unreachable. A TLS certificate
    rarely covers this machine's local name, and a Unix socket has no URL."""
    if server.sock or server.certfile or not server.port:
        return ""
    ip = server.ip
    host = "127.0.0.1" if ip in _HERE else "[::1]" if ip in _HERE_6 else ip
    path = url_path_join(server.base_url, "codeinterp", "api", "model")
    return f"http://{host}:{server.port}{path}"
