"""The person's rules of a conversation: code like a draft's runs without asking."""

from __future__ import annotations

from http import HTTPStatus

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.labels import Rule
from .base import Handler


class NewRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ``rule`` of the draft that waits. The draft goes on waiting."""

    draft_id: str
    nonce: str


class RuleList(msgspec.Struct, frozen=True):
    """Those that count, the oldest first. ``allowed``: whether this server has rules at all."""

    rules: tuple[Rule, ...]
    allowed: bool


class RulesHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str) -> None:
        found = self.manager.session(session_id).standing_rules
        self.answer(RuleList(found.all, found.allowed))

    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self, session_id: str) -> None:
        given = self.given(NewRule)
        service = self.manager.service
        rule = service.make_rule(session_id, given.draft_id, given.nonce, self.by)
        self.set_status(HTTPStatus.CREATED)
        self.answer(rule)


class RuleHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self, session_id: str, rule_id: str) -> None:
        self.manager.service.remove_rule(session_id, rule_id, self.by)
        self.set_status(HTTPStatus.NO_CONTENT)
        self.finish()
