"""A running Jupyter server with the extension, as tests reach it: over HTTP and sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

from jupyter_server.serverapp import ServerApp
from tornado.httpclient import HTTPClientError, HTTPResponse
from tornado.websocket import WebSocketClientConnection

from jupyter_codeinterp.server.app import CodeInterp
from jupyter_codeinterp.wire.ops import Notebook
from tests.kernels import Person, person_at, until
from tests.login import Login, log_in
from tests.reference_window import ReferenceWindow, body, notebook

API = ("codeinterp", "api")


class Watch:
    """Sees every request that makes a kernel run something, whoever sent it and however
    quietly: each has a ``busy`` of its own on iopub, which no sender can switch off."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self._own: set[str] = set()

    async def run(self, code: str) -> str:
        """Run code as the person at this kernel; its output."""
        msg_id = self.person.run(code)
        self._own.add(msg_id)
        await self.person.finished(msg_id)
        return self.person.text(msg_id)

    async def reached(self) -> list[str]:
        """The ids of all execute_requests that were not this person's.

        A cell of our own goes through the kernel's queue first, so that what was sent
        before this call has been seen.
        """
        await self.run("None")
        return [
            str(message["parent_header"]["msg_id"])
            for message in self.person.messages
            if message["msg_type"] == "status"
            and message["content"]["execution_state"] == "busy"
            and message["parent_header"].get("msg_type") == "execute_request"
            and message["parent_header"]["msg_id"] not in self._own
        ]

    async def sources(self) -> list[str]:
        """What others ran, in order."""
        await self.run("None")
        return [source for source in self.person.sources() if source != "None"]


class Site:
    def __init__(
        self, app: ServerApp, fetch: Callable[..., Any], socket: Callable[..., Any], url: str
    ) -> None:
        """``fetch`` and ``socket`` carry the server's token unless told otherwise; ``url`` is
        where browsers find the server, without a slash at its end."""
        self.app = app
        self.url = url
        self._fetch = fetch
        self._socket = socket
        self._login: Login | None = None
        self._open = AsyncExitStack()

    @property
    def extension(self) -> CodeInterp:
        (extension,) = self.app.extension_manager.extension_apps["jupyter_codeinterp"]
        assert isinstance(extension, CodeInterp)
        return extension

    # --- HTTP ------------------------------------------------------------------------

    async def request(self, method: str, *path: str, json_body: Any = None, **kwargs: Any) -> Any:
        """The response, whatever its status."""
        if json_body is not None:
            kwargs["body"] = json.dumps(json_body)
        elif method in ("POST", "PATCH", "PUT"):
            kwargs.setdefault("body", "")
        try:
            response: HTTPResponse = await self._fetch(*API, *path, method=method, **kwargs)
        except HTTPClientError as error:
            assert error.response is not None
            return error.response
        return response

    async def get(self, *path: str, **kwargs: Any) -> Any:
        return body(await self.request("GET", *path, **kwargs))

    async def as_page(self, method: str, *path: str, **kwargs: Any) -> Any:
        """The response to a page that has a window."""
        return await self.request(method, *path, headers=await self.of_a_page(), **kwargs)

    async def post(self, *path: str, json_body: Any = None) -> Any:
        return body(await self.as_page("POST", *path, json_body=json_body))

    async def set_key(self, **given: str) -> Any:
        """The response to a key that was entered in a window."""
        return await self.as_page("POST", "connections", "anthropic", json_body=given)

    async def server_status(self) -> Any:
        """The server's own ``/api/status``."""
        return body(await self._fetch("api", "status"))

    async def rename(self, path: str, to: str) -> None:
        """In the server's files, as the file browser does."""
        given = json.dumps({"path": to})
        await self._fetch("api", "contents", *path.split("/"), method="PATCH", body=given)

    # --- kernels ---------------------------------------------------------------------

    async def kernel(self) -> str:
        """A started kernel's id."""
        response = await self._fetch("api", "kernels", method="POST", body="{}")
        return str(body(response)["id"])

    async def kernel_of(self, path: str, name: str = "python3") -> str:
        """The kernel of a session, as a notebook has one when it is open."""
        given = {"path": path, "type": "notebook", "name": "", "kernel": {"name": name}}
        response = await self._fetch("api", "sessions", method="POST", body=json.dumps(given))
        return str(body(response)["kernel"]["id"])

    async def restart(self, kernel_id: str) -> None:
        await self._fetch("api", "kernels", kernel_id, "restart", method="POST", body="")

    async def guarded(self, kernel_id: str) -> None:
        """Waits until our guard is in the kernel, for which a silent request is made once; not
        while it is busy, as it is at its start."""
        link, variables = self.extension.workbench._kernels.get(kernel_id)
        deadline = asyncio.get_running_loop().time() + 60
        while variables._registered != link.start:
            assert asyncio.get_running_loop().time() < deadline, "there is no guard"
            await variables.read(())
            await asyncio.sleep(0.05)

    async def watch(self, kernel_id: str) -> Watch:
        """Sees what is asked of the kernel from now on."""
        kernels: Any = self.app.kernel_manager
        return Watch(await self._open.enter_async_context(person_at(kernels, kernel_id)))

    # --- sockets ---------------------------------------------------------------------

    async def login(self) -> Login:
        """The one browser of most tests."""
        if self._login is None:
            self._login = await log_in(self.url, self.app.identity_provider.token)
        return self._login

    async def ticket(self) -> str:
        return (await (await self.login()).ask()).ticket

    async def connect(
        self, ticket: str, headers: dict[str, str] | None = None
    ) -> WebSocketClientConnection:
        """With the cookies of the browser, unless ``headers`` say otherwise."""
        if headers is None:
            headers = {**(await self.login()).headers, "Authorization": "none"}
        params = {"ticket": ticket}
        socket: WebSocketClientConnection = await self._socket(
            *API, "channel", params=params, headers=headers
        )
        return socket

    async def of_a_page(self) -> dict[str, str]:
        """The headers of a request from a page that has a window."""
        login, window = await self.login(), await self.bare_window()
        return {
            **login.headers,
            "Authorization": "none",
            "Host": urlsplit(login.url).netloc,
            "X-Codeinterp-Window": window.secret,
        }

    async def window(
        self,
        path: str = "a.ipynb",
        book: Notebook | None = None,
        kernel_id: str = "",
        secret: str = "",
    ) -> ReferenceWindow:
        """A window with the notebook open."""
        window = await self.bare_window(path, book, secret)
        await window.open(kernel_id)
        return window

    async def bare_window(
        self, path: str = "a.ipynb", book: Notebook | None = None, secret: str = ""
    ) -> ReferenceWindow:
        """A window that has said nothing yet. With the ``secret`` of one that was there
        before it is the same page, which connects again."""
        given = await (await self.login()).ask(secret)
        socket = await self.connect(given.ticket)
        window = ReferenceWindow(socket, path, book or notebook("x = 20"))
        window.secret = given.secret
        self._open.push_async_callback(window.close)
        return window

    async def until(self, condition: Callable[[], Any]) -> None:
        """For what is told to nobody: looked at until it is true."""
        await until(condition)

    async def close(self) -> None:
        await self._open.aclose()
