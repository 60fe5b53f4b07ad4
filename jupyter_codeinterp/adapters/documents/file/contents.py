"""One notebook file, through the server's contents manager: its hooks, its checks and its
signatures hold here as for every save.

What the manager calls atomic writing empties the file and fills it again, with a copy beside
it in case of a crash. A page that opens the notebook just then finds it unreadable, so files
on a disk are replaced in one step here; other managers do it their way.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import nbformat
from jupyter_client.jsonutil import json_default
from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.fileio import FileManagerMixin
from tornado import web

from ....core.document.ops import Notebook, id_of, joined, shaped
from ....core.errors import DocumentError
from .replacing import replace_text

TRIES = 3
"""Of a file that is there whenever somebody looks, but not when it is worked in."""
CELL_IDS_SINCE = 5
"""The minor version of nbformat 4 that gave cells their ids."""
UPGRADED = "It was in notebook format 4.{minor} and is now in 4.5, which names its cells."


class ContentsFile:
    def __init__(
        self,
        contents: Any,
        path: Callable[[], str],
        is_elsewhere: Callable[[str], Awaitable[bool]],
    ) -> None:
        """``contents`` is the server's contents manager; ``path`` gives the path as it knows
        it, wherever the notebook is by now. ``is_elsewhere`` is asked where there is no file:
        whether the notebook has another path by now, or will have in a moment."""
        self._contents = contents
        self._path = path
        self._is_elsewhere = is_elsewhere
        self._hashes = "require_hash" in inspect.signature(contents.get).parameters

    @property
    def path(self) -> str:
        return self._path()

    async def read(self) -> tuple[Notebook, str]:
        """The notebook, and what people must know of it ("": nothing).

        Format 4 before 4.5 is brought to 4.5: cells get ids. Raises DocumentError
        ``no_file``, ``invalid_notebook`` or ``unreadable``.
        """
        model = await self._get(content=True)
        if not _is_open_to_work(model["content"]):
            words = f"{self.path} is not a valid notebook, and is left as it is."
            raise DocumentError("invalid_notebook", words)
        minor = _minor(model["content"])
        said = UPGRADED.format(minor=minor) if minor < CELL_IDS_SINCE else ""
        return await asyncio.to_thread(_plain, model["content"]), said

    async def write(self, notebook: Notebook) -> str:
        """The version of the file afterwards. Raises DocumentError ``no_file``, for a file
        that is gone is not made anew, or ``not_written``; the file is then as it was."""
        model = {"type": "notebook", "format": "json", "content": notebook}
        for tries in itertools.count(1):
            path = self.path
            try:
                if isinstance(self._contents, FileManagerMixin):
                    await self._replace(model, path)
                else:
                    await self._get_at(path, content=False)
                    await ensure_async(self._contents.save(model, path))
                return _version(await self._get(content=False))
            except FileNotFoundError:
                if not await self._may_be_found(path, tries):
                    raise _no_file(path) from None
            except DocumentError as error:
                if error.code != "no_file" or not await self._may_be_found(path, tries):
                    raise
            except (web.HTTPError, OSError) as error:
                words = f"{path} could not be written: {_words(error)}"
                raise DocumentError("not_written", words) from error
            except Exception as error:
                # Odd outputs, say, that its signature cannot be made of; nor can a page save it.
                words = f"{path} holds what Jupyter cannot write: {error!r}"
                raise DocumentError("not_written", words) from error
        raise AssertionError("it is written, or an error says why not")

    async def _may_be_found(self, path: str, tries: int) -> bool:
        """Where there was no file: whether the notebook is elsewhere by now, or back, as one
        that was renamed twice. ``tries``: what says so without end is not believed."""
        if await self._is_elsewhere(path):
            return True
        try:
            await self._get_at(path, content=False)
        except DocumentError:
            return False
        return tries < TRIES

    async def _replace(self, model: dict[str, Any], path: str) -> None:
        """As ``save`` of the file manager does it, but for the writing."""
        contents = self._contents
        os_path = contents._get_os_path(path)
        contents.run_pre_save_hooks(model=model, path=path)
        notebook = await asyncio.to_thread(nbformat.from_dict, model["content"])
        contents.check_and_sign(notebook, path)
        text = await asyncio.to_thread(nbformat.writes, notebook, version=nbformat.NO_CONVERT)
        await asyncio.to_thread(replace_text, os_path, f"{text}\n")
        saved = await self._get(content=False)
        contents.run_post_save_hooks(model=saved, os_path=os_path)
        contents.emit(data={"action": "save", "path": path})

    async def version(self) -> str:
        """Raises DocumentError as ``read`` does."""
        return _version(await self._get(content=False))

    async def _get(self, *, content: bool) -> dict[str, Any]:
        for tries in itertools.count(1):
            path = self.path
            try:
                return await self._get_at(path, content=content)
            except DocumentError as error:
                # One that is renamed in the middle of the reading looks broken.
                again = error.code != "no_file" and tries < TRIES
                if not again and not await self._may_be_found(path, tries):
                    raise
        raise AssertionError("it is read, or an error says why not")

    async def _get_at(self, path: str, *, content: bool) -> dict[str, Any]:
        wanted: dict[str, Any] = {"content": content, "type": "notebook"}
        if self._hashes:
            wanted["require_hash"] = True
        try:
            model: dict[str, Any] = await ensure_async(self._contents.get(path, **wanted))
        except web.HTTPError as error:
            if error.status_code == 404:
                raise _no_file(path) from error
            if error.status_code == 400:
                words = f"{path} is not a notebook that can be read, and is left as it is."
                raise DocumentError("invalid_notebook", words) from error
            words = f"{path} could not be read: {_words(error)}"
            raise DocumentError("unreadable", words) from error
        except Exception as error:
            # Jupyter's reader trusts its shape; nor does JupyterLab open it then.
            words = f"{path} is not a notebook that Jupyter can read, and is left as it is."
            raise DocumentError("unreadable", words) from error
        return model


def _no_file(path: str) -> DocumentError:
    return DocumentError("no_file", f"There is no {path} any more: the work in it was stopped.")


def _is_open_to_work(content: Any) -> bool:
    """Whether there are cells to work in. What else is odd JupyterLab opens, too."""
    cells = content.get("cells") if isinstance(content, dict) else None
    return isinstance(cells, list) and all(isinstance(cell, dict) for cell in cells)


def _minor(content: Any) -> int:
    minor = content.get("nbformat_minor")
    return minor if type(minor) is int else 0


def _plain(content: Any) -> Notebook:
    """Plain dictionaries in nbformat's types, as JupyterLab saves what was odd. Each cell has
    an id: the same one whenever the file is read, until it is written."""
    plain: Notebook = _builtins(content)
    plain["cells"] = [shaped(cell) for cell in plain["cells"]]
    if not isinstance(plain.get("metadata"), dict):
        plain["metadata"] = {}
    plain["nbformat_minor"] = max(_minor(content), CELL_IDS_SINCE)
    taken: set[str] = set()
    for cell in plain["cells"]:
        if not id_of(cell) or id_of(cell) in taken:
            cell["id"] = _id_for(cell, taken)
        taken.add(cell["id"])
    return plain


def _id_for(cell: dict[str, Any], taken: set[str]) -> str:
    text = f"{cell.get('cell_type')}\n{joined(cell.get('source'))}".encode("utf-8", "replace")
    for number in itertools.count():
        name = hashlib.sha256(b"%d\n%s" % (number, text)).hexdigest()[:8]
        if name not in taken:
            return name
    raise AssertionError("there are numbers enough")


def _builtins(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _builtins(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_builtins(item) for item in value]
    return value


def _version(model: dict[str, Any]) -> str:
    """As a window names it: the hash, else the time, as in the JSON of the contents API."""
    return str(model.get("hash") or json_default(model["last_modified"]))


def _words(error: web.HTTPError | OSError) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror}."
    return str(error.log_message or error.reason or error)
