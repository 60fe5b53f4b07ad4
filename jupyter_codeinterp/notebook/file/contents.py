"""One notebook file, through the server's contents manager, with its hooks, checks and
signatures.

Jupyter's own manager empties the file and refills it, with a copy in case of a crash. A page
that opens the notebook just then cannot read it, and another program's recent changes are lost.
So we swap the files of that manager in one step. A manager with its own way of saving or reading
(Jupytext, a database, a cloud) gets a plain ``save``.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import itertools
import json
import stat
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from jupyter_client.jsonutil import json_default
from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.filemanager import FileContentsManager
from tornado import web

from ...base.errors import DocumentError
from ...base.sentences import Sentence
from ...sandbox.shared import open_folders
from ...wire.ops import Notebook, id_of, joined, shaped
from .swap import FileChangedError, swap_text

# -------------------------------------------------------------------------------------------------
# A file that Jupyter is saving right now.
#
# Jupyter's file manager writes over the file itself, and keeps the previous content next to it
# until the new content is complete. Its reader takes the half-written file for a broken one and
# moves it away, which loses the save. So we read after the save.

LEFT_BEHIND = 10.0
"""Seconds after which a copy of the previous content is left from a crash: no save takes that
long."""
INTERVAL = 0.02
_left: dict[str, float] = {}
"""Files beside which a crash left a copy, and when that copy's status last changed. The clock of
a network drive may be ahead of ours."""


async def saved(os_path: str) -> None:
    """Return when no save of the file is under way, after ``LEFT_BEHIND`` seconds at most."""
    begun = time.monotonic()
    while (made := await asyncio.to_thread(_save_began, Path(os_path))) is not None:
        if time.monotonic() - begun >= LEFT_BEHIND:
            _left[os_path] = made
        if _left.get(os_path) == made or time.time() - made >= LEFT_BEHIND:
            return
        await asyncio.sleep(INTERVAL)


def _save_began(path: Path) -> float | None:
    """When a save began; None without one. The copy of the previous content keeps the old
    modification time, so use the time of its last status change."""
    target = path.resolve()
    try:
        found = target.with_name(f".~{target.name}").lstat()
    except FileNotFoundError:
        return None
    # Code could make a folder of this name and keep changing it.
    return found.st_ctime if stat.S_ISREG(found.st_mode) else None


# -------------------------------------------------------------------------------------------------
# A notebook as plain dictionaries in nbformat's types, with an id for each cell.

CELL_IDS_SINCE = 5
"""The minor version of nbformat 4 that gave cells their ids."""


def is_usable(content: Any) -> bool:
    """Whether the content has a list of cells. JupyterLab tolerates other defects."""
    cells = content.get("cells") if isinstance(content, dict) else None
    return isinstance(cells, list) and all(isinstance(cell, dict) for cell in cells)


def minor_of(content: Any) -> int:
    minor = content.get("nbformat_minor")
    return minor if type(minor) is int else 0


def normalized(content: Any) -> Notebook:
    """Fix odd types as JupyterLab does on save. A cell without an id gets the same id at each
    read, until the file is written."""
    plain: Notebook = _builtins(content)
    plain["cells"] = [shaped(cell) for cell in plain["cells"]]
    if not isinstance(plain.get("metadata"), dict):
        plain["metadata"] = {}
    plain["nbformat_minor"] = max(minor_of(content), CELL_IDS_SINCE)
    taken: set[str] = set()
    for cell in plain["cells"]:
        if not id_of(cell) or id_of(cell) in taken:
            cell["id"] = _id_for(cell, taken)
        taken.add(cell["id"])
    return plain


def sources_of(notebook: Notebook) -> dict[str, str]:
    return {id_of(cell): joined(cell["source"]) for cell in notebook["cells"]}


def with_known_ids(notebook: Notebook, known: Mapping[str, str]) -> Notebook:
    """Give cells their ``known`` ids by source, where the file cannot store ids: a script opened
    as a notebook gets new ids at each read."""
    if not known or known.keys() & sources_of(notebook).keys():
        return notebook
    left: dict[str, list[str]] = {}
    for cell_id, source in known.items():
        left.setdefault(source, []).append(cell_id)
    cells = []
    for cell in notebook["cells"]:
        ids = left.get(joined(cell["source"]))
        cells.append({**cell, "id": ids.pop(0)} if ids else cell)
    return {**notebook, "cells": cells}


def fingerprint(content: Any) -> str:
    """Identifies a notebook's content, without its cell ids."""
    plain = _builtins(content)
    if isinstance(plain, dict) and isinstance(plain.get("cells"), list):
        plain["cells"] = [
            {key: value for key, value in cell.items() if key != "id"}
            if isinstance(cell, dict)
            else cell
            for cell in plain["cells"]
        ]
    text = json.dumps(plain, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _id_for(cell: dict[str, Any], taken: set[str]) -> str:
    text = f"{cell.get('cell_type')}\n{joined(cell.get('source'))}".encode("utf-8", "replace")
    for number in itertools.count():
        name = hashlib.sha256(b"%d\n%s" % (number, text)).hexdigest()[:8]
        if name not in taken:
            return name
    raise AssertionError("every name is taken")


def _builtins(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _builtins(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_builtins(item) for item in value]
    return value


CHANGED = "changed"
"""The error code for a file that changed since it was read."""
TRIES = 3
"""Tries for a file that exists at each check but is missing at each read."""
UPGRADED = Sentence("Converted from notebook format {old} to 4.5, which gives cells ids.")
BEFORE = " A checkpoint (File menu) has the notebook as it was."
_WRITING = ("save", "get", "_save_notebook", "_read_notebook", "_get_os_path")
_JUPYTER = "jupyter_server.services.contents."


class Reading(NamedTuple):
    notebook: Notebook
    version: str
    """The version that windows use."""
    stamp: str
    """Differs when the content differs, even where versions are coarse times."""
    note: str = ""
    """A remark for people about the notebook."""


def is_jupyters_own(contents: Any) -> bool:
    """Whether the manager reads and writes files exactly as Jupyter's own does."""
    kind = type(contents)
    return (
        issubclass(kind, FileContentsManager)
        and contents.use_atomic_writing
        and all(getattr(kind, name).__module__.startswith(_JUPYTER) for name in _WRITING)
    )


class ContentsFile:
    def __init__(
        self,
        contents: Any,
        path: Callable[[], str],
        is_elsewhere: Callable[[str], Awaitable[bool]],
    ) -> None:
        """``contents`` is the server's contents manager; ``path`` returns its current path for
        the notebook. ``is_elsewhere`` tells, for a missing file, whether the notebook has a new
        path or gets one in a moment."""
        self._contents = contents
        self._path = path
        self._is_elsewhere = is_elsewhere
        self._hashes = "require_hash" in inspect.signature(contents.get).parameters
        self._known: Mapping[str, str] = {}
        self._last: tuple[str, list[str]] = ("", [])
        """The stamp and the cell ids of the last read."""
        self._marker: Any = None
        """The last marker written, for a file that cannot store it."""

    @property
    def path(self) -> str:
        return self._path()

    def know(self, cells: Mapping[str, str]) -> None:
        """Sources of cells by their earlier ids."""
        self._known = dict(cells)

    async def read(self) -> Reading:
        """Read the notebook; format 4 before 4.5 becomes 4.5, with cell ids.

        Raises DocumentError ``no_file``, ``invalid_notebook`` or ``unreadable``.
        """
        model = await self._get(content=True)
        content = model["content"]
        if not is_usable(content):
            words = Sentence("{path} is not a valid notebook. It was not changed.", path=self.path)
            raise DocumentError("invalid_notebook", words)
        notebook = await asyncio.to_thread(normalized, content)
        major, minor = _older(notebook), minor_of(content)
        note = UPGRADED.format(old=f"4.{minor}") if minor < CELL_IDS_SINCE else ""
        if major:
            note = UPGRADED.format(old=major) + BEFORE
        stamp = await _stamp(model)
        if not is_jupyters_own(self._contents):
            notebook = self._recalled(notebook)
        elif stamp == self._last[0]:
            # nbformat gives a cell another id at each read where two cells share one.
            ids = zip(notebook["cells"], self._last[1], strict=True)
            notebook = {**notebook, "cells": [{**cell, "id": cell_id} for cell, cell_id in ids]}
        self._last = (stamp, list(map(id_of, notebook["cells"])))
        return Reading(notebook, _version(model), stamp, note)

    def _recalled(self, notebook: Notebook) -> Notebook:
        """The notebook with the ids and the marker that its file cannot store."""
        notebook = with_known_ids(notebook, self._known)
        self._known = sources_of(notebook)
        metadata = notebook["metadata"]
        if self._marker is not None and "codeinterp" not in metadata:
            notebook = {**notebook, "metadata": {**metadata, "codeinterp": self._marker}}
        return notebook

    async def write(self, notebook: Notebook, over: Reading) -> str:
        """Replace the file that was read; return its new version.

        Raises DocumentError ``changed`` if another program changed it, ``no_file`` if it is gone,
        or ``not_written``. The file then stays unchanged.
        """
        model = {"type": "notebook", "format": "json", "content": notebook}
        for tries in itertools.count(1):
            path = self.path
            try:
                if _older(over.notebook):
                    await self._keep_checkpoint(path)
                if is_jupyters_own(self._contents):
                    return await self._swap(model, path, over)
                return await self._save(model, path, over)
            except FileChangedError:
                raise _changed(path) from None
            except FileNotFoundError:
                if not await self._may_be_found(path, tries):
                    raise _no_file(path) from None
            except DocumentError as error:
                if error.code != "no_file" or not await self._may_be_found(path, tries):
                    raise
            except (web.HTTPError, OSError) as error:
                words = Sentence("Could not write {path}: {words}", path=path, words=_words(error))
                raise DocumentError("not_written", words) from error
            except Exception as error:
                # For example outputs that cannot be signed; a page cannot save them either.
                words = Sentence(
                    "Jupyter cannot write the content of {path}: {error!r}", path=path, error=error
                )
                raise DocumentError("not_written", words) from error
        raise AssertionError("it is written, or an error says why not")

    async def _keep_checkpoint(self, path: str) -> None:
        """Save the unchanged file as a checkpoint if it has none, as a page does."""
        if not await ensure_async(self._contents.list_checkpoints(path)):
            await ensure_async(self._contents.create_checkpoint(path))

    async def _may_be_found(self, path: str, tries: int) -> bool:
        """For a missing file: whether the notebook has a new path, or is back after two renames,
        which counts at most ``TRIES`` times."""
        if await self._is_elsewhere(path):
            return True
        try:
            await self._get_at(path, content=False)
        except DocumentError:
            return False
        return tries < TRIES

    async def _swap(self, model: dict[str, Any], path: str, over: Reading) -> str:
        """Do as ``save`` of Jupyter's file manager, but replace the file in one step."""
        contents = self._contents
        os_path = contents._get_os_path(path)

        def named(data: bytes) -> str:
            return hashlib.new(contents.hash_algorithm, data).hexdigest()

        contents.run_pre_save_hooks(model=model, path=path)
        notebook = await asyncio.to_thread(nbformat.from_dict, model["content"])
        contents.check_and_sign(notebook, path)
        text = await asyncio.to_thread(nbformat.writes, notebook, version=nbformat.NO_CONVERT)
        written = f"{text}\n".encode()
        await asyncio.to_thread(
            swap_text, os_path, written, lambda there: named(there) == over.version
        )
        saved = await self._get(content=False)
        contents.run_post_save_hooks(model=saved, os_path=os_path)
        contents.emit(data={"action": "save", "path": path})
        return named(written)

    async def _save(self, model: dict[str, Any], path: str, over: Reading) -> str:
        """Have the manager save. A change between our comparison and its save is lost."""
        if await _stamp(await self._get_at(path, content=True)) != over.stamp:
            raise _changed(path)
        await ensure_async(self._contents.save(model, path))
        notebook = model["content"]
        self._known = sources_of(notebook)
        self._marker = notebook["metadata"].get("codeinterp")
        return _version(await self._get_at(path, content=False))

    async def _get(self, *, content: bool) -> dict[str, Any]:
        for tries in itertools.count(1):
            path = self.path
            try:
                return await self._get_at(path, content=content)
            except DocumentError as error:
                # A file renamed during the read looks broken.
                again = error.code != "no_file" and tries < TRIES
                if not again and not await self._may_be_found(path, tries):
                    raise
        raise AssertionError("it is read, or an error says why not")

    async def _get_at(self, path: str, *, content: bool) -> dict[str, Any]:
        wanted: dict[str, Any] = {"content": content, "type": "notebook"}
        if self._hashes:
            wanted["require_hash"] = True
        if is_jupyters_own(self._contents):
            why = await asyncio.to_thread(open_folders.refusal, Path(self._contents.root_dir), path)
            if why:
                raise DocumentError(
                    "unreadable", "{path} was not opened: {why}", path=path, why=why
                )
            if content:
                await saved(self._contents._get_os_path(path))
        try:
            model: dict[str, Any] = await ensure_async(self._contents.get(path, **wanted))
        except web.HTTPError as error:
            if error.status_code == 404:
                raise _no_file(path) from error
            if error.status_code == 400:
                words = Sentence(
                    "{path} is not a readable notebook. It was not changed.", path=path
                )
                raise DocumentError("invalid_notebook", words) from error
            words = Sentence("Could not read {path}: {words}", path=path, words=_words(error))
            raise DocumentError("unreadable", words) from error
        except Exception as error:
            # Jupyter's reader fails on odd shapes; JupyterLab does not open such a file either.
            words = Sentence(
                "Jupyter cannot read {path} as a notebook. It was not changed.", path=path
            )
            raise DocumentError("unreadable", words) from error
        return model


def _older(notebook: Notebook) -> int:
    """The major format from which the manager has converted the notebook; 0 for 4."""
    major = notebook["metadata"].get("orig_nbformat")
    return major if type(major) is int and major < 4 else 0


def _no_file(path: str) -> DocumentError:
    return DocumentError(
        "no_file", "{path} no longer exists. The work in it was stopped.", path=path
    )


def _changed(path: str) -> DocumentError:
    return DocumentError(CHANGED, "Another program changed {path} meanwhile.", path=path)


def _version(model: dict[str, Any]) -> str:
    """The version that windows use: the hash, else the time, as the contents API writes it."""
    return str(model.get("hash") or json_default(model["last_modified"]))


async def _stamp(model: dict[str, Any]) -> str:
    return str(model.get("hash") or await asyncio.to_thread(fingerprint, model["content"]))


def _words(error: web.HTTPError | OSError) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror}."
    return str(error.log_message or error.reason or error)
