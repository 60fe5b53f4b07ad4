"""The kernels that notebooks have, by the server's own list of sessions."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from jupyter_client.kernelspec import NoSuchKernel
from jupyter_core.utils import ensure_async
from tornado import web

from ..core.errors import CommandError

log = logging.getLogger(__name__)


class NotebookKernels:
    def __init__(self, sessions: Any, contents: Any) -> None:
        """The server's managers of sessions and of contents."""
        self._sessions = sessions
        self._contents = contents
        self._moving: asyncio.Future[None] | None = None
        self._starting = asyncio.Lock()

    async def of(self, path: str) -> str | None:
        """The id of the notebook's kernel."""
        running = await self._running(path)
        return None if running is None else str(running["kernel"]["id"])

    async def _running(self, path: str) -> dict[str, Any] | None:
        listed: list[dict[str, Any]] = await ensure_async(self._sessions.list_sessions())
        return next((one for one in listed if one["path"] == path and one["kernel"]), None)

    # --- a notebook that is moved ----------------------------------------------------

    def move(self, old: str, new: str) -> None:
        """The kernel stays with a notebook that no window has open, as a window would see to
        it: who opens it there has the variables."""
        self._moving = asyncio.ensure_future(self._follow(self._moving, old, new))

    async def moved(self) -> None:
        """Wait until they are where they belong."""
        if self._moving is not None:
            await asyncio.shield(self._moving)

    async def _follow(self, before: asyncio.Future[None] | None, old: str, new: str) -> None:
        if before is not None:
            await before
        try:
            for running in await ensure_async(self._sessions.list_sessions()):
                if running["path"] == old:
                    name = new.rpartition("/")[2]
                    await ensure_async(
                        self._sessions.update_session(running["id"], path=new, name=name)
                    )
        except Exception:
            # Other managers than Jupyter's own: the notebook then gets a new kernel.
            log.exception("The kernel of %s does not follow to %s", old, new)

    # --- a notebook that no window shows ---------------------------------------------

    async def ready(self, path: str, name: str = "") -> None:
        """See to it that there is such a notebook, and that it has a kernel: the one that it
        has, else a new one of the kernelspec ``name``; "": the one that the notebook names, or
        the server's own choice.

        Raises CommandError ``unknown_notebook``, ``other_kernel``, ``no_such_kernel`` or
        ``kernel_not_started``.
        """
        named = await self._kernelspec(path)
        async with self._starting:
            await self.moved()
            running = await self._running(path)
            if running is None:
                await self._start(path, name or named)
            elif name not in ("", running["kernel"]["name"]):
                words = f"{path} has a kernel already: {running['kernel']['name']}, not {name}."
                raise CommandError("other_kernel", words)

    async def _kernelspec(self, path: str) -> str:
        try:
            model = await ensure_async(self._contents.get(path, content=True, type="notebook"))
        except web.HTTPError as error:
            words = f"There is no notebook {path!r}: {error.log_message or error.reason}"
            raise CommandError("unknown_notebook", words) from None
        metadata = model["content"].get("metadata")
        spec = metadata.get("kernelspec") if isinstance(metadata, dict) else None
        name = spec.get("name") if isinstance(spec, dict) else None
        return name if isinstance(name, str) else ""

    async def _start(self, path: str, name: str) -> None:
        try:
            await ensure_async(
                self._sessions.create_session(
                    path=path,
                    name=path.rpartition("/")[2],
                    type="notebook",
                    kernel_name=name or None,
                )
            )
        except NoSuchKernel as error:
            words = f"There is no kernel {error.name!r} on this server: name another."
            raise CommandError("no_such_kernel", words) from None
        except Exception as error:
            # A kernel's own start may fail in any way; the log says how.
            log.exception("No kernel could be started for %s", path)
            words = f"The kernel of {path} could not be started: {error}"
            raise CommandError("kernel_not_started", words) from None
