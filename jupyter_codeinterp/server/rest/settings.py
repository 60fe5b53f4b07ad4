"""What is configured: status, models, keys, the demo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.services.contents.filemanager import FileContentsManager
from tornado import web

from ...adapters.providers.replay import provider as replay
from ...core.commands import DoneElsewhere
from ...core.errors import CommandError
from .base import Handler


def _status(handler: Handler) -> dict[str, Any]:
    models, store = handler.models, handler.store
    return {
        "configured": models.configured,
        "source": models.source,
        "default_model": models.default,
        "demo_model": replay.NAME,
        "highest_mode": handler.manager.rules.highest_mode,
        "base_url_host": models.host,
        "version": handler.settings["codeinterp_version"],
        "warning": " ".join(filter(None, (store.warning, models.warning))),
        "notices": [{"id": number, "text": text} for number, text in store.notices().items()],
    }


class StatusHandler(Handler):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        self.answer(_status(self))


class NoticeHandler(Handler):
    @web.authenticated
    @authorized("write")
    async def delete(self, number: str) -> None:
        self.store.dismiss(int(number))
        self.answer(_status(self))


class KeyHandler(Handler):
    @web.authenticated
    @authorized("execute", "kernels")
    async def post(self) -> None:
        window, put_back = self.window(), self.models.put_back()
        given = self.body()
        await self.models.set_key(
            self.text(given, "key"), self.text(given, "base_url"), self.text(given, "model")
        )
        self.manager.tell_others(DoneElsewhere(window, "key", self.models.key_host), put_back)
        self.answer(_status(self))

    @web.authenticated
    @authorized("execute", "kernels")
    async def delete(self) -> None:
        window, put_back = self.window(), self.models.put_back()
        self.models.forget_key()
        self.manager.tell_others(DoneElsewhere(window, "no_key"), put_back)
        self.answer(_status(self))


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
        try:
            front = self.text(self.body(), "notebook")
            notebook = await replay.notebook_for(front, self._root)
        except OSError as error:
            words = f"The demo could not be copied to this server's folder: {error.strerror}."
            raise CommandError("not_writable", words) from None
        self.answer({"notebook": notebook, "model": replay.NAME})

    def _root(self) -> Path:
        """Kernels must find the data beside the notebook, so both must be files here."""
        if not isinstance(self.contents_manager, FileContentsManager):
            words = "This server keeps notebooks elsewhere than in files: the demo needs files."
            raise CommandError("no_files", words)
        return Path(self.contents_manager.root_dir)
