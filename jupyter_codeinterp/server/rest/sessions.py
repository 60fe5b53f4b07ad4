"""Conversations as they are: listed, renamed, deleted, exported, and what happened in them."""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ...core.errors import CommandError
from ...core.events import Mode
from ..files.whereabouts import clean
from .base import Handler

LONGEST_WORD = 200
"""Characters of what is searched for."""
LONGEST_NAME = 60
"""Characters of an exported file's name, without its suffix."""
_EXPORTS = {
    "markdown": (".md", "text/markdown; charset=utf-8"),
    "recording": (".jsonl", "application/x-ndjson; charset=utf-8"),
}


class NewSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``notebook`` is its path on the server. ``kernel`` names a kernelspec, for a notebook that
    has no kernel; "": as the notebook says."""

    notebook: str
    mode: Mode = "review"
    model: str = ""
    kernel: str = ""


class SessionsHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        notebook = self.get_query_argument("notebook", "") or None
        word = self.get_query_argument("q", "")
        if len(word) > LONGEST_WORD:
            raise CommandError("malformed", f"“q” has at most {LONGEST_WORD} characters.")
        found = await self.manager.search(word, notebook) if word else self.manager.list(notebook)
        self.answer({"sessions": found})

    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def post(self) -> None:
        """The notebook has a kernel from now on, if it had none."""
        self.window()
        given = self.given(NewSession)
        notebook = clean(given.notebook)
        await self.kernels.ready(notebook, given.kernel)
        session = self.manager.service.create(notebook, given.mode, given.model)
        self.set_status(HTTPStatus.CREATED)
        self.answer(session.info)


class SessionHandler(Handler):
    @web.authenticated
    @authorized("write")
    async def patch(self, session_id: str) -> None:
        title = self.text(self.body(), "title")
        self.manager.service.rename(session_id, title)
        self.answer(self.manager.session(session_id).info)

    @web.authenticated
    @authorized("write")
    async def delete(self, session_id: str) -> None:
        await self.manager.delete(session_id)
        self.set_status(HTTPStatus.NO_CONTENT)
        self.finish()


class ExportHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str) -> None:
        from ...core.history.exporting import markdown  # not at the server's start
        from ...core.history.recording import recording

        session = self.manager.session(session_id)
        kind = self.get_query_argument("format", "")
        if kind not in _EXPORTS:
            raise CommandError("malformed", f"“format” is one of: {', '.join(_EXPORTS)}.")
        suffix, content_type = _EXPORTS[kind]
        events = [event for _, event in self.manager.store.events(session_id)]
        info, scrub = session.info, self.manager.rules.scrub
        if kind == "markdown":
            text = await asyncio.to_thread(lambda: scrub(markdown(info, events)))
        else:
            messages = self.manager.store.all_messages(session_id)
            text = await asyncio.to_thread(lambda: scrub(recording(info, events, messages)))
        self.set_attachment_header(_file_name(info.title) + suffix)
        self.finish(text, set_content_type=content_type)


def _file_name(title: str) -> str:
    """Of letters and digits of any language, so that it is one on every system."""
    words = "-".join(re.findall(r"\w+", title))[:LONGEST_NAME].strip("-")
    return words or "conversation"


class ChangesHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str, turn: str) -> None:
        self.answer(self.manager.service.review(session_id, int(turn)))


class SentHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str, step: str) -> None:
        self.manager.session(session_id)
        request = self.manager.store.request(session_id, int(step))
        if request is None:
            raise CommandError("unknown_step", "There was no such step.")
        self.answer(request)
