"""Names that the person protects: whether code changes them, and whether a run did.

Before the run, changes by ``exec``, by a called function or through another name of the same value
are not seen. The kernel reports them after the run. ``tests/core/test_protected.py`` has the cases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...base.sentences import Sentence
from ...cell_code.cell_names import PARSED, names_of
from ...cell_code.parsing import parse

CHANGES = Sentence("Changes the protected {names}.")
MAY_CHANGE = Sentence("This code cannot be read, and it names the protected {names}.")


def notices(source: str, language: str, names: tuple[str, ...]) -> tuple[Sentence, ...]:
    """Notices for a person who must decide on this code; () if it changes none of ``names``."""
    if not names or language.lower() != "python":
        return ()
    found = changed(source, names)
    if found is not None:
        return (Sentence(CHANGES, names=_listed(found)),) if found else ()
    named = [name for name in names if re.search(rf"\b{re.escape(name)}\b", source)]
    return (Sentence(MAY_CHANGE, names=_listed(named)),) if named else ()


def changed(source: str, names: tuple[str, ...]) -> list[str] | None:
    """Those of ``names`` that the code assigns or changes, in their order. None if it cannot be
    read."""
    if parse(source, PARSED) is None:
        return None
    found = names_of(source)
    functions = (function.changes for function in found.functions.values())
    every = found.binds.union(found.changes, *functions)
    return [name for name in names if name in every]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
