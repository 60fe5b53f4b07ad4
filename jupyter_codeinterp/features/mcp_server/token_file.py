"""``mcp-token.json``: the token of other agents, as a digest, in a file that only its owner can
read.

Several servers may use the file; each reads it again when it has changed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union

import msgspec

from ...base.errors import CommandError
from ...base.private_file import PrivateFile
from ...base.sentences import Sentence

PREFIX = "cimcp_"
"""Prefix of each token, so that people and scanners recognize one."""
NO_TOKEN = "The token is not known here, or somebody has revoked it."


class Token(msgspec.Struct, frozen=True):
    """``digest``: of the secret; ``made``: seconds since 1970; ``maker``: fields of the server's
    user who made it, as they were then."""

    digest: str
    made: float
    maker: dict[str, Any]


class _Content(msgspec.Struct, frozen=True):
    version: Literal[1] = 1
    token: Union[Token, None] = None


class TokenFile:
    def __init__(self, folder: Path) -> None:
        path = folder / "mcp-token.json"
        self._file = PrivateFile(path, _Content(), Sentence("the token of other agents"))

    @property
    def token(self) -> Token | None:
        """Raises CommandError ``not_kept``."""
        return self._file.content.token

    def make(self, maker: Mapping[str, Any]) -> str:
        """Replace the token. Returns the secret, which nobody can read again. ``maker``: the
        user's fields that fit in JSON, at least ``username``. Raises CommandError ``not_kept``."""
        secret = PREFIX + secrets.token_urlsafe(32)
        made = Token(_digest(secret), time.time(), dict(maker))
        self._file.change(lambda _: _Content(token=made))
        return secret

    def revoke(self) -> None:
        """Raises CommandError ``not_kept``."""
        self._file.change(lambda _: _Content())

    def find(self, secret: str) -> Token:
        """The token with this secret. Raises CommandError ``no_token`` or ``not_kept``."""
        token = self.token
        if token is None or not hmac.compare_digest(token.digest, _digest(secret)):
            raise CommandError("no_token", NO_TOKEN)
        return token

    def check(self, token: Token) -> None:
        """Raises CommandError ``no_token`` if the token was revoked, or ``not_kept``."""
        if self.token != token:
            raise CommandError("no_token", NO_TOKEN)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
