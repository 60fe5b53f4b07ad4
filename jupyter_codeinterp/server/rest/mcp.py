"""Makes, lists and revokes the tokens of outside clients."""

from __future__ import annotations

from http import HTTPStatus

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ..mcp.tokens import Scope, Token, Tokens
from .base import Handler


class NewToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``name``: for people. ``scope``: ``look`` reads; ``run`` also changes and runs, by review."""

    name: str
    scope: Scope = "look"


class MadeToken(Token, frozen=True):
    """``token`` is the secret. Nobody can read it again."""

    token: str = ""


class _TokensHandler(Handler):
    @property
    def tokens(self) -> Tokens:
        tokens: Tokens = self.settings["codeinterp_mcp"].tokens
        return tokens


class TokensHandler(_TokensHandler):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        self.answer({"tokens": self.tokens.all()})

    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self) -> None:
        given = self.given(NewToken)
        token, secret = self.tokens.make(given.name, given.scope)
        self.set_status(HTTPStatus.CREATED)
        self.answer(MadeToken(**msgspec.structs.asdict(token), token=secret))


class TokenHandler(_TokensHandler):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def delete(self, token_id: str) -> None:
        self.tokens.revoke(token_id)
        self.set_status(HTTPStatus.NO_CONTENT)
        self.finish()
