"""The notebooks' kernels, from the server's list of sessions."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from jupyter_client.kernelspec import NoSuchKernel
from jupyter_core.utils import ensure_async
from tornado import web

from ...base.errors import CommandError, KernelError
from ...base.paths import root_of
from ...base.sentences import Sentence
from ...sandbox.shared import open_folders

log = logging.getLogger(__name__)


def no_notebook(path: str, error: web.HTTPError) -> CommandError:
    words = "No notebook {path!r}: {why}"
    why = error.log_message or error.reason
    return CommandError("unknown_notebook", words, path=path, why=why)


async def notebook_content(contents: Any, path: str) -> Any:
    """The content of a notebook. Raises CommandError ``unknown_notebook``, also where a sandboxed
    kernel could redirect the reader."""
    await usable(contents, path)
    try:
        model = await ensure_async(contents.get(path, content=True, type="notebook"))
    except web.HTTPError as error:
        raise no_notebook(path, error) from None
    return model["content"]


async def usable(contents: Any, path: str) -> None:
    """Raises CommandError ``unknown_notebook`` where a sandboxed kernel could redirect the reader,
    or has made the notebook too large."""
    root = root_of(contents)
    if root is not None and (why := await asyncio.to_thread(open_folders.refusal, root, path)):
        words = "{path!r} was not opened: {why}"
        raise CommandError("unknown_notebook", words, path=path, why=why)


class NotebookKernels:
    def __init__(self, sessions: Any, contents: Any) -> None:
        """``sessions`` and ``contents`` are jupyter_server's managers."""
        self._sessions = sessions
        self._contents = contents
        self._moving: asyncio.Future[None] | None = None
        self._starting = asyncio.Lock()

    async def of(self, path: str) -> str | None:
        """The id of the notebook's kernel; None if none runs."""
        running = await self._running(path)
        return None if running is None else str(running["kernel"]["id"])

    async def _running(self, path: str) -> dict[str, Any] | None:
        listed: list[dict[str, Any]] = await ensure_async(self._sessions.list_sessions())
        return next((one for one in listed if one["path"] == path and one["kernel"]), None)

    # --- kernelspecs ------------------------------------------------------------------

    async def specs(self) -> dict[str, str]:
        """Display names of the installed kernels, by name."""
        found = await self._specs()
        return {name: str(one["spec"].get("display_name", name)) for name, one in found.items()}

    async def _specs(self) -> dict[str, Any]:
        manager = self._sessions.kernel_manager.kernel_spec_manager
        specs: dict[str, Any] = await ensure_async(manager.get_all_specs())
        return specs

    async def metadata(self, path: str) -> dict[str, Any]:
        """The metadata of a notebook with the same kernel as this one; empty if the kernel is
        unknown. Raises CommandError ``unknown_notebook``."""
        running = await self._running(path)
        name = running["kernel"]["name"] if running else await self._kernelspec(path)
        found = (await self._specs()).get(name)
        if found is None:
            return {}
        spec = {key: str(found["spec"].get(key, "")) for key in ("display_name", "language")}
        return {"kernelspec": {"name": name, **spec}}

    async def change(self, path: str, kernel_id: str, spec: str) -> None:
        """Start a kernel of that spec for the notebook's session, and shut down ``kernel_id``, as
        JupyterLab's own "Change Kernel" does. Raises KernelError ``no_kernel``."""
        listed = await ensure_async(self._sessions.list_sessions())
        ours = (one for one in listed if one["kernel"] and one["kernel"]["id"] == kernel_id)
        session = max(ours, key=lambda one: one["path"] == path, default=None)
        if session is None:
            raise KernelError("no_kernel", "The notebook's session with its kernel has ended.")
        try:
            started = await ensure_async(
                self._sessions.start_kernel_for_session(
                    session["id"],
                    kernel_name=spec,
                    path=session["path"],
                    name=session["name"],
                    type=session["type"],
                )
            )
            await ensure_async(self._sessions.update_session(session["id"], kernel_id=started))
            await ensure_async(self._sessions.kernel_manager.shutdown_kernel(kernel_id))
        except Exception as error:
            # A kernelspec's program may be missing, and managers may raise anything.
            log.exception("Could not change the kernel of %s to %s", path, spec)
            raise KernelError(
                "no_kernel", "Could not start the kernel {spec}: {error}", spec=spec, error=error
            ) from None

    # --- moved notebooks -------------------------------------------------------------

    def move(self, old: str, new: str) -> None:
        """Keep the kernel with a moved notebook that no window has open, as a window would do.
        The variables survive the move."""
        self._moving = asyncio.ensure_future(self._follow(self._moving, old, new))

    async def moved(self) -> None:
        """Wait for the end of all moves."""
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
            # Other packages' managers may raise anything. The notebook then gets a new kernel.
            log.exception("Could not move the kernel of %s to %s", old, new)

    # --- notebooks without a window --------------------------------------------------

    async def ready(self, path: str, name: str = "") -> None:
        """Make sure that the notebook exists and has a kernel. Starts one if needed.

        ``name``: the kernelspec to start; "": the notebook's, or the server's default. Raises
        CommandError ``unknown_notebook``, ``other_kernel``, ``no_such_kernel`` or
        ``kernel_not_started``.
        """
        named = await self._kernelspec(path)
        async with self._starting:
            await self.moved()
            running = await self._running(path)
            if running is None:
                await self._start(path, name or named)
            elif name not in ("", running["kernel"]["name"]):
                words = "{path} already has the kernel {has}, not {name}."
                has = running["kernel"]["name"]
                raise CommandError("other_kernel", words, path=path, has=has, name=name)

    async def _installed(self) -> Sentence:
        """The installed kernels, in words."""
        names = sorted(await self._specs())
        if not names:
            return Sentence("None is installed: pip install ipykernel.")
        return Sentence("Installed: {names}.", names=", ".join(names))

    async def _kernelspec(self, path: str) -> str:
        metadata = (await notebook_content(self._contents, path)).get("metadata")
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
            words = "There is no kernel {name!r} here. {others}"
            others = await self._installed()
            raise CommandError("no_such_kernel", words, name=error.name, others=others) from None
        except Exception as error:
            log.exception("Could not start a kernel for %s", path)
            words = "Could not start the kernel of {path}: {why}"
            raise CommandError("kernel_not_started", words, path=path, why=error) from None
