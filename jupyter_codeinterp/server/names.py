"""What a message can name: the kernel's variables (never a value) and the files beside a notebook.

No kernel is started for it and no busy one waited for: then it is what was known last, and said
to be so. The names that private cells assign are left out, as far as a conversation about the
notebook has seen those cells; the window leaves out those of the cells that it shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, Union

import msgspec

from ..core.errors import KernelError
from ..core.ports import KernelInfo

MOST = 2_000
"""Variables, and files."""
LONGEST = 100
"""Characters of a variable's name, and of its type; longer names are left out."""
MOST_NOTEBOOKS = 50
"""Of which is kept what was known last."""
MOST_DIMENSIONS = 8


class Variable(msgspec.Struct, frozen=True):
    """``shape`` is the lengths of its dimensions, of a list or a text one; empty if it has none
    that is known."""

    name: str
    type: str
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: {self.type}" + (f" {list(self.shape)}" if self.shape else "")


class File(msgspec.Struct, frozen=True):
    """``size`` in bytes; a folder's name ends with a slash."""

    name: str
    size: int


class Nameable(msgspec.Struct, frozen=True):
    """``earlier``: the variables could not be looked at now, and are as they were when they
    could."""

    variables: tuple[Variable, ...]
    files: tuple[File, ...]
    earlier: bool = False


class NamingKernel(Protocol):
    async def info(self) -> KernelInfo: ...

    async def outline(self) -> list[dict[str, Any]] | None: ...


_Known = tuple[Union[tuple[str, int], None], tuple[Variable, ...]]


class Names:
    def __init__(
        self,
        kernel: Callable[[str], NamingKernel],
        files: Callable[[str, int], Awaitable[list[tuple[str, int]]]],
        is_private: Callable[[str, str], bool],
    ) -> None:
        """All are asked with the notebook's path: for its kernel, for at most so many files,
        and whether a name in it is private."""
        self._kernel = kernel
        self._files = files
        self._is_private = is_private
        self._known: dict[str, _Known] = {}

    async def of(self, notebook: str) -> Nameable:
        (variables, earlier), files = await asyncio.gather(
            self._variables(notebook), self._files(notebook, MOST)
        )
        return Nameable(
            self._public(notebook, variables),
            tuple(File(name, size) for name, size in files),
            earlier,
        )

    async def variables(self, notebook: str) -> tuple[Variable, ...]:
        variables, _ = await self._variables(notebook)
        return self._public(notebook, variables)

    def _public(self, notebook: str, variables: tuple[Variable, ...]) -> tuple[Variable, ...]:
        return tuple(one for one in variables if not self._is_private(notebook, one.name))

    async def _variables(self, notebook: str) -> tuple[tuple[Variable, ...], bool]:
        """And whether they are of before."""
        kernel = self._kernel(notebook)
        try:
            info = await kernel.info()
            found = await kernel.outline()
        except KernelError:
            self._known.pop(notebook, None)
            return (), False
        start = (info.kernel_id, info.start)
        if found is None:
            known_start, known = self._known.get(notebook, (None, ()))
            return (known if known_start == start else ()), True
        variables = tuple(one for one in map(_variable, found[-MOST:]) if one is not None)
        self._known.pop(notebook, None)
        self._known[notebook] = (start, variables)
        while len(self._known) > MOST_NOTEBOOKS:
            del self._known[next(iter(self._known))]
        return variables, False


def _variable(told: object) -> Variable | None:
    """The kernel may tell anything."""
    if not isinstance(told, Mapping):
        return None
    name, kind = told.get("name"), told.get("type")
    if not isinstance(name, str) or len(name) > LONGEST or not name.isidentifier():
        return None
    shape = told.get("shape", [told["len"]] if "len" in told else [])
    if not isinstance(shape, list) or not all(type(size) is int for size in shape):
        shape = []
    sizes = tuple(size for size in shape[:MOST_DIMENSIONS] if 0 <= size < 2**53)
    return Variable(name, kind[:LONGEST] if isinstance(kind, str) else "", sizes)
