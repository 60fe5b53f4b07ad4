"""``mcp.json``: the tokens of clients, as digests, in a file that only its owner can read.

The command line and several servers change the file; each reads it again when it has changed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from ...base.errors import CommandError
from ...base.private_file import ON_LOOP, PrivateFile
from ...base.sentences import Sentence
from ...base.visible import visible_line

Scope = Literal["look", "run"]
"""``look``: read notebooks and variables. ``run``: also change them and run code, by review."""
PREFIX = "cimcp_"
"""Prefix of each token, so that people and scanners recognize one."""
NO_TOKEN = "The token is not known here, or somebody has revoked it."
LONGEST_NAME = 60
"""Characters."""
MOST = 100
"""Tokens of a server."""
CALLER = "codeinterp_caller"
"""The name of a request's ``TokenHolder`` in its ASGI scope."""


class Token(msgspec.Struct, frozen=True):
    """A token without its secret. ``made``: seconds since 1970."""

    id: str
    name: str
    scope: Scope
    made: float


class TokenHolder(NamedTuple):
    """Who calls. ``may``: whether the token's maker may do this action on this resource."""

    token: Token
    may: Callable[[str, str], Awaitable[bool]]


class _Kept(msgspec.Struct, frozen=True):
    """``maker``: fields of the server's user who made it, as they were then."""

    token: Token
    digest: str
    maker: dict[str, Any] = {}


class _TokensFile(msgspec.Struct, frozen=True):
    version: Literal[1] = 1
    tokens: tuple[_Kept, ...] = ()


class Tokens:
    def __init__(self, folder: Path, wait: float = ON_LOOP) -> None:
        """``wait`` as in ``PrivateFile``."""
        self._file = PrivateFile(
            folder / "mcp.json", _TokensFile(), Sentence("the list of tokens"), wait
        )

    def all(self) -> tuple[Token, ...]:
        """The oldest first. Raises CommandError ``not_kept``."""
        return tuple(kept.token for kept in self._file.content.tokens)

    def maker(self, token_id: str) -> Mapping[str, Any]:
        """Fields of the user who made it. Raises CommandError ``no_token`` or ``not_kept``."""
        for kept in self._file.content.tokens:
            if kept.token.id == token_id:
                return kept.maker
        raise CommandError("no_token", NO_TOKEN)

    def make(self, name: str, scope: Scope, maker: Mapping[str, Any]) -> tuple[Token, str]:
        """A new token, and its secret, which nobody can read again. ``maker``: the user's
        fields that fit in JSON, at least ``username``.

        Raises CommandError ``bad_name``, ``too_many_tokens`` or ``not_kept``.
        """
        name = visible_line(name.strip())
        if not name or len(name) > LONGEST_NAME:
            words = "A name has 1 to {limit} characters."
            raise CommandError("bad_name", words, limit=LONGEST_NAME)
        secret = PREFIX + secrets.token_urlsafe(32)
        token = Token(secrets.token_hex(8), name, scope, time.time())

        def added(now: _TokensFile) -> _TokensFile:
            if len(now.tokens) >= MOST:
                words = "There are {limit} tokens. Revoke one that is not needed."
                raise CommandError("too_many_tokens", words, limit=MOST)
            return _TokensFile(tokens=(*now.tokens, _Kept(token, _digest(secret), dict(maker))))

        self._file.change(added)
        return token, secret

    def revoke(self, token_id: str) -> Token:
        """Raises CommandError ``unknown_token`` or ``not_kept``."""
        found: list[Token] = []

        def without(now: _TokensFile) -> _TokensFile:
            found.extend(one.token for one in now.tokens if one.token.id == token_id)
            if not found:
                raise CommandError("unknown_token", "This token does not exist.")
            return _TokensFile(tokens=tuple(one for one in now.tokens if one.token.id != token_id))

        self._file.change(without)
        return found[0]

    def find(self, secret: str) -> Token:
        """The token with this secret. Raises CommandError ``no_token`` or ``not_kept``."""
        digest = _digest(secret)
        found = None
        for kept in self._file.content.tokens:
            if hmac.compare_digest(kept.digest, digest):
                found = kept.token
        if found is None:
            raise CommandError("no_token", NO_TOKEN)
        return found


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()
