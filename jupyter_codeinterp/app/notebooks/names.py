"""Names that a message can reference: kernel variables (never values), their columns, and files.

This starts no kernel. For a busy kernel it returns the last known names, marked as ``earlier``. It
omits names that private cells assign, if a conversation about the notebook has seen those cells.
The window omits those of the cells that it shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Protocol, Union

import msgspec

from ...base.errors import KernelError
from ...wire.ports import KernelInfo

MAX_NAMES = 2_000
"""Variables, and files."""
MAX_LENGTH = 100
"""Characters of a variable's type and name. Longer names are omitted."""
MAX_NOTEBOOKS = 50
"""Notebooks whose last known names are kept."""
MAX_DIMENSIONS = 8
MAX_KEY = 100
"""Characters of a column's key. Longer ones are omitted."""
MAX_KEYS = 2_000
"""Columns of one variable."""


class NotebookVariable(msgspec.Struct, frozen=True):
    """``shape``: lengths of the dimensions (one for lists and strings); empty if unknown.
    ``columns``: key and type of a table's columns or of a dictionary's items, the first ones. A
    key is written as in Python: ``'net price'``."""

    name: str
    type: str
    shape: tuple[int, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: {self.type}" + (f" {list(self.shape)}" if self.shape else "")


class File(msgspec.Struct, frozen=True):
    """``size`` in bytes; a folder's name ends with a slash."""

    name: str
    size: int


class Nameable(msgspec.Struct, frozen=True):
    """``earlier``: the kernel was busy, so the variables may be outdated."""

    variables: tuple[NotebookVariable, ...]
    files: tuple[File, ...]
    earlier: bool = False


class NamingKernel(Protocol):
    async def info(self) -> KernelInfo: ...

    async def outline(
        self, names: tuple[str, ...] = (), keys: bool = False
    ) -> list[dict[str, Any]] | None: ...


_Known = tuple[Union[tuple[str, int], None], tuple[NotebookVariable, ...]]


class ReferenceNames:
    def __init__(
        self,
        kernel: Callable[[str], NamingKernel],
        files: Callable[[str, int], Awaitable[list[tuple[str, int]]]],
        is_private: Callable[[str, str], bool],
        scrub: Callable[[str], str] = str,
    ) -> None:
        """The functions take the notebook's path; ``files`` also a maximum number, ``is_private``
        a name. ``scrub`` removes API keys from a text: a dictionary may have them as keys."""
        self._kernel = kernel
        self._files = files
        self._is_private = is_private
        self._scrub = scrub
        self._known: dict[str, _Known] = {}

    async def columns(self, notebook: str, name: str) -> Nameable:
        """One variable with all its columns, and no files; no variable if it is missing."""
        kernel = self._kernel(notebook)
        try:
            found = await kernel.outline((name,), True)
        except KernelError:
            return Nameable((), ())
        one = tuple(filter(None, map(_variable, (found or [])[:1])))
        return Nameable(self._public(notebook, one), (), found is None)

    async def of(self, notebook: str) -> Nameable:
        (variables, earlier), files = await asyncio.gather(
            self._variables(notebook, True), self._files(notebook, MAX_NAMES)
        )
        return Nameable(
            self._public(notebook, variables),
            tuple(File(name, size) for name, size in files),
            earlier,
        )

    async def variables(self, notebook: str) -> tuple[NotebookVariable, ...]:
        variables, _ = await self._variables(notebook, False)
        return self._public(notebook, variables)

    def _public(
        self, notebook: str, variables: tuple[NotebookVariable, ...]
    ) -> tuple[NotebookVariable, ...]:
        shown = tuple(one for one in variables if not self._is_private(notebook, one.name))
        keys = "\n".join(key for one in shown for key, _ in one.columns)
        if self._scrub(keys) == keys:
            return shown
        return tuple(msgspec.structs.replace(one, columns=self._clean(one)) for one in shown)

    def _clean(self, one: NotebookVariable) -> tuple[tuple[str, str], ...]:
        return tuple(pair for pair in one.columns if self._scrub(pair[0]) == pair[0])

    async def _variables(
        self, notebook: str, keys: bool
    ) -> tuple[tuple[NotebookVariable, ...], bool]:
        """The variables, and whether they may be outdated."""
        kernel = self._kernel(notebook)
        try:
            info = await kernel.info()
            found = await kernel.outline((), keys)
        except KernelError:
            self._known.pop(notebook, None)
            return (), False
        start = (info.kernel_id, info.start)
        if found is None:
            known_start, known = self._known.get(notebook, (None, ()))
            return (known if known_start == start else ()), True
        variables = tuple(one for one in map(_variable, found[-MAX_NAMES:]) if one is not None)
        self._known.pop(notebook, None)
        self._known[notebook] = (start, variables)
        while len(self._known) > MAX_NOTEBOOKS:
            del self._known[next(iter(self._known))]
        return variables, False


def _variable(reported: object) -> NotebookVariable | None:
    """Validate a variable that the kernel reports: it may report anything."""
    if not isinstance(reported, Mapping):
        return None
    name, kind = reported.get("name"), reported.get("type")
    if not isinstance(name, str) or len(name) > MAX_LENGTH or not name.isidentifier():
        return None
    shape = reported.get("shape", [reported["len"]] if "len" in reported else [])
    if not isinstance(shape, list) or not all(type(size) is int for size in shape):
        shape = []
    sizes = tuple(size for size in shape[:MAX_DIMENSIONS] if 0 <= size < 2**53)
    columns = tuple(_columns(reported.get("columns")))
    return NotebookVariable(
        name, kind[:MAX_LENGTH] if isinstance(kind, str) else "", sizes, columns
    )


def _columns(reported: object) -> Iterator[tuple[str, str]]:
    for pair in reported[:MAX_KEYS] if isinstance(reported, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(x, str) for x in pair):
            key, kind = pair
            if 0 < len(key) <= MAX_KEY and key.isprintable():
                yield key, kind[:MAX_LENGTH]
