"""A token for each kernel, good for model calls while the kernel is there.

Code in the kernel can read it, so nothing rests on its being secret from there: what it allows
is bounded here. It is kept as a hash, known to redaction, and never logged.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jupyter_core.utils import ensure_async

from ...core.errors import ModelError
from ...core.ports import ModelInfo
from ...core.turn.meter import price_of
from ...kernel_side.model_endpoint import MODEL, TOKEN, URL

AT_ONCE = 4
"""Calls of one kernel at the same time."""
HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
"""May hold a key, too."""


@dataclass
class Grant:
    """What one kernel has. ``kernel_id`` "" until it has started. ``cost`` in US dollars."""

    kernel_id: str = ""
    cost: float = 0.0
    calls: int = 0
    """At this moment."""


class KernelTokens:
    def __init__(
        self,
        kernels: Any,
        *,
        url: Callable[[], str],
        model: Callable[[], str],
        learn: Callable[[str], None],
        key_variables: Callable[[], Iterable[str]],
        keep_keys: bool,
        remove: Iterable[str],
        most: float | None,
    ) -> None:
        """``kernels`` is the server's kernel manager. ``url`` is "" where kernels cannot reach
        the server. ``learn`` is told each token. ``remove`` names variables
        that no kernel gets. ``most``: US dollars a kernel may cost."""
        self._kernels = kernels
        self._url = url
        self._model = model
        self._learn = learn
        self._key_variables = key_variables
        self._keep_keys = keep_keys
        self._remove = tuple(remove)
        self._most = most
        self._grants: dict[bytes, Grant] = {}

    def hand_over(self) -> None:
        """From now on the kernels that are started have a token in their environment, and not
        what is to be kept from them."""
        start = self._kernels.start_kernel

        async def start_kernel(*args: Any, **given: Any) -> Any:
            known = given.get("kernel_id")
            if known is not None and known in self._kernels:
                return await ensure_async(start(*args, **given))
            grant = Grant()
            given["env"] = self._environment(given.get("env"), grant)
            kernel_id = await ensure_async(start(*args, **given))
            grant.kernel_id = str(kernel_id)
            self._forget_dead()
            return kernel_id

        self._kernels.start_kernel = start_kernel

    def _environment(self, given: dict[str, str] | None, grant: Grant) -> dict[str, str]:
        env = dict(os.environ if given is None else given)
        keys = () if self._keep_keys else (*self._key_variables(), HEADERS)
        above = (TOKEN, URL, MODEL)  # of a server above this one
        for name in (*self._remove, *keys, *above):
            env.pop(name, None)
        url = self._url()
        if url:
            token = secrets.token_urlsafe(32)
            self._learn(token)
            self._grants[_hash(token)] = grant
            env.update({TOKEN: token, URL: url, MODEL: self._model()})
            # A proxy of the environment's is not to see the token.
            host = urlsplit(url).hostname or ""
            for name in ("NO_PROXY", "no_proxy"):
                env[name] = ",".join(filter(None, (env.get(name, ""), host)))
        return env

    def find(self, token: str) -> Grant | None:
        """What the token is good for now; None for nothing."""
        grant = self._grants.get(_hash(token))
        if grant is None or not grant.kernel_id or grant.kernel_id not in self._kernels:
            return None
        return grant

    def _forget_dead(self) -> None:
        self._grants = {
            key: grant
            for key, grant in self._grants.items()
            if not grant.kernel_id or grant.kernel_id in self._kernels
        }

    # --- what it may cost ------------------------------------------------------------

    def check(self, grant: Grant, info: ModelInfo) -> None:
        """Whether one more call may begin. Raises ModelError ``spend_limit``, ``forbidden`` or
        ``rate_limit``."""
        if grant.calls >= AT_ONCE:
            raise ModelError("rate_limit", f"At most {AT_ONCE} calls of a kernel at once.", 1.0)
        if self._most is None:
            return
        if info.prices is None and not info.local:
            words = f"What {info.id} costs is not known, and this server has a cost limit."
            raise ModelError("forbidden", words)
        if grant.cost >= self._most:
            words = f"This kernel has reached the cost limit of ${self._most:.2f}."
            raise ModelError("spend_limit", words)

    @staticmethod
    def count(grant: Grant, info: ModelInfo, usage: Any) -> None:
        """After a call."""
        grant.cost += price_of(info, usage) or 0.0


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
