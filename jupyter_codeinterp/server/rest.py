"""REST under ``/codeinterp/api/``: each handler reads, calls, writes.

GET    status                         what is configured
DELETE notices/ID                     the person has read a notice of the status
GET    models                         what can be chosen
GET    local                          model servers found on this machine
POST   key        {key, base_url?}    keep a key (DELETE forgets it); of a window only
POST   demo       {notebook?}         the offline demo's notebook
POST   tickets    {secret?}           a ticket for the channel, and the window's secret
POST   leaving    {secret}            the window's page goes away
GET    sessions?notebook=…&q=…        conversations, newest first; those that hold a word
GET    sessions/ID/events?after=N     what happened
GET    sessions/ID/sent/STEP          what was sent to the model
GET    sessions/ID/turns/TURN/changes what a turn changed, cell by cell
GET    sessions/ID/export?format=…    to take along: markdown, or a recording
PATCH  sessions/ID {title}            rename
DELETE sessions/ID
"""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.services.contents.filemanager import FileContentsManager
from jupyter_server.utils import url_path_join
from tornado import web

from .. import demo
from ..adapters.storage.sqlite import SqliteStore
from ..core.commands import DoneElsewhere
from ..core.errors import CodeInterpError, CommandError, StoreError
from .models import DEMO_MODEL, Models, is_demo
from .session_manager import SessionManager
from .socket.handler import ChannelHandler, bearer_of

WINDOW_HEADER = "X-Codeinterp-Window"
"""Carries the window's secret."""
MAX_BODY = 1_000_000
"""Bytes."""
LONGEST_WORD = 200
"""Characters of what is searched for."""
LONGEST_NAME = 60
"""Characters of an exported file's name, without its suffix."""
_EXPORTS = {
    "markdown": (".md", "text/markdown; charset=utf-8"),
    "recording": (".jsonl", "application/x-ndjson; charset=utf-8"),
}
_STATUS = {
    "no_session": HTTPStatus.FORBIDDEN,
    "no_window": HTTPStatus.FORBIDDEN,
    "closed_window": HTTPStatus.FORBIDDEN,
    "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "unknown_session": HTTPStatus.NOT_FOUND,
    "unknown_step": HTTPStatus.NOT_FOUND,
    "unknown_turn": HTTPStatus.NOT_FOUND,
    "busy": HTTPStatus.CONFLICT,
    "held_elsewhere": HTTPStatus.CONFLICT,
    "offline": HTTPStatus.BAD_GATEWAY,
    "server_error": HTTPStatus.BAD_GATEWAY,
}


TOKEN_ONLY = (
    "Windows are for browsers that have logged in: a request with the server's token gets none. "
    "Leave the token out, and send the cookies of the login. "
    "(An admin may allow it: c.CodeInterp.allow_token_windows.)"
)
NO_WINDOW = (
    "Keys and addresses are set in a window of the Code Interpreter. "
    "Connect the panel, and try again."
)


class Handler(APIHandler):
    auth_resource = "contents"

    @property
    def manager(self) -> SessionManager:
        manager: SessionManager = self.settings["codeinterp_manager"]
        return manager

    @property
    def models(self) -> Models:
        models: Models = self.settings["codeinterp_models"]
        return models

    @property
    def store(self) -> SqliteStore:
        store: SqliteStore = self.settings["codeinterp_store"]
        return store

    def answer(self, value: Any) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode(value))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Errors of ours in words; the others as jupyter_server writes them."""
        error = kwargs.get("exc_info", (None, None, None))[1]
        if isinstance(error, CodeInterpError):
            ours = isinstance(error, StoreError)
            otherwise = HTTPStatus.INTERNAL_SERVER_ERROR if ours else HTTPStatus.BAD_REQUEST
            self.set_status(_STATUS.get(error.code, otherwise))
            self.answer({"code": error.code, "message": error.message})
        else:
            super().write_error(status_code, **kwargs)

    def log_exception(self, *exc_info: Any) -> None:
        if isinstance(exc_info[1], StoreError) or not isinstance(exc_info[1], CodeInterpError):
            super().log_exception(*exc_info)

    def body(self) -> dict[str, Any]:
        """Raises CommandError ``malformed`` or ``too_large``."""
        if len(self.request.body) > MAX_BODY:
            raise CommandError("too_large", f"The request is larger than {MAX_BODY:,} bytes.")
        try:
            given = msgspec.json.decode(self.request.body or b"{}", type=dict)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise CommandError("malformed", f"Not a JSON object: {error}") from None
        return dict(given)

    def text(self, given: dict[str, Any], name: str) -> str:
        value = given.get(name, "")
        if not isinstance(value, str):
            raise CommandError("malformed", f"“{name}” must be a string.")
        return value.strip()

    def window(self) -> int:
        """The number of the window that asks. Raises CommandError ``no_window``: the
        server's token alone is not enough here, for code in a kernel may have it."""
        number = self.manager.known.number(self.request.headers.get(WINDOW_HEADER, ""))
        if not number:
            raise CommandError("no_window", NO_WINDOW)
        return number

    def status(self) -> dict[str, Any]:
        models = self.models
        store = self.store
        return {
            "configured": models.source != "none",
            "source": models.source,
            "default_model": models.default,
            "demo_model": DEMO_MODEL,
            "highest_mode": self.manager.rules.highest_mode,
            "base_url_host": models.host,
            "version": self.settings["codeinterp_version"],
            "warning": " ".join(filter(None, (store.warning, models.warning))),
            "notices": [{"id": number, "text": text} for number, text in store.notices().items()],
        }


class StatusHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        self.answer(self.status())


class NoticeHandler(Handler):
    @web.authenticated
    @authorized("write")
    async def delete(self, number: str) -> None:
        self.store.dismiss(int(number))
        self.answer(self.status())


class KeyHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self) -> None:
        window, put_back = self.window(), self.models.put_back()
        given = self.body()
        await self.models.set_key(
            self.text(given, "key"), self.text(given, "base_url"), self.text(given, "model")
        )
        self.manager.tell_others(DoneElsewhere(window, "key", self.models.host), put_back)
        self.answer(self.status())

    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self) -> None:
        window, put_back = self.window(), self.models.put_back()
        self.models.forget_key()
        self.manager.tell_others(DoneElsewhere(window, "no_key"), put_back)
        self.answer(self.status())


class ModelsHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        found, error = await self.models.available()
        why = {"error": {"code": error.code, "message": error.message}} if error else {}
        self.answer({"models": found, **why})


class LocalHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def get(self) -> None:
        self.answer({"servers": await self.models.local_servers()})


class DemoHandler(Handler):
    @web.authenticated
    @authorized("write")
    async def post(self) -> None:
        """Copy the demo into a new folder, unless the notebook in front is a demo's."""
        notebook = self.text(self.body(), "notebook")
        if not is_demo(notebook):
            notebook = await self._copy()
        self.answer({"notebook": notebook, "model": DEMO_MODEL})

    async def _copy(self) -> str:
        """Kernels must find the data beside the notebook, so both must be files here."""
        if not isinstance(self.contents_manager, FileContentsManager):
            words = "This server keeps notebooks elsewhere than in files: the demo needs files."
            raise CommandError("no_files", words)
        root = Path(self.contents_manager.root_dir)
        try:
            copied = await asyncio.to_thread(demo.copy_demo, root)
        except OSError as error:
            words = f"The demo could not be copied to this server's folder: {error.strerror}."
            raise CommandError("not_writable", words) from None
        return copied.relative_to(root).as_posix()


class TicketsHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def post(self) -> None:
        """A kernel can read the server's token, and not the browser's cookies: a window is
        for who comes without the one and with the other."""
        bearer = bearer_of(self)
        if bearer.has_token and not self.settings["codeinterp_token_windows"]:
            raise CommandError("no_session", TOKEN_ONLY)
        ticket, secret = self.manager.known.issue(bearer, self.text(self.body(), "secret"))
        self.answer({"ticket": ticket, "secret": secret})


class LeavingHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def post(self) -> None:
        self.manager.goes(self.manager.known.number(self.text(self.body(), "secret")))
        self.set_status(HTTPStatus.NO_CONTENT)
        self.finish()


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


class SessionHandler(Handler):
    @web.authenticated
    @authorized("write")
    async def patch(self, session_id: str) -> None:
        title = self.text(self.body(), "title")
        session = self.manager.session(session_id)
        session.rename(title)
        self.answer(session.info)

    @web.authenticated
    @authorized("write")
    async def delete(self, session_id: str) -> None:
        await self.manager.delete(session_id)
        self.set_status(HTTPStatus.NO_CONTENT)
        self.finish()


class EventsHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str) -> None:
        after = self.get_query_argument("after", "0")
        if not re.fullmatch(_NUMBER, after):
            raise CommandError("malformed", "“after” must be a number.")
        self.manager.session(session_id)
        events = self.manager.store.events(session_id, int(after))
        self.answer({"events": [{"seq": seq, "event": event} for seq, event in events]})


class ExportHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str) -> None:
        from ..core.history.exporting import markdown  # not at the server's start
        from ..core.history.recording import recording

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
        self.answer(self.manager.session(session_id).review(int(turn)))


class SentHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self, session_id: str, step: str) -> None:
        self.manager.session(session_id)
        request = self.manager.store.request(session_id, int(step))
        if request is None:
            raise CommandError("unknown_step", "There was no such step.")
        self.answer(request)


_ID = r"([0-9a-f]{32})"
_NUMBER = r"([0-9]{1,15})"


def handlers(base_url: str) -> list[tuple[str, type[web.RequestHandler]]]:
    routes: list[tuple[str, type[web.RequestHandler]]] = [
        (r"status", StatusHandler),
        (rf"notices/{_NUMBER}", NoticeHandler),
        (r"models", ModelsHandler),
        (r"local", LocalHandler),
        (r"key", KeyHandler),
        (r"demo", DemoHandler),
        (r"tickets", TicketsHandler),
        (r"leaving", LeavingHandler),
        (r"sessions", SessionsHandler),
        (rf"sessions/{_ID}", SessionHandler),
        (rf"sessions/{_ID}/events", EventsHandler),
        (rf"sessions/{_ID}/export", ExportHandler),
        (rf"sessions/{_ID}/sent/{_NUMBER}", SentHandler),
        (rf"sessions/{_ID}/turns/{_NUMBER}/changes", ChangesHandler),
        (r"channel", ChannelHandler),
    ]
    return [(url_path_join(base_url, "codeinterp", "api", path), kind) for path, kind in routes]
