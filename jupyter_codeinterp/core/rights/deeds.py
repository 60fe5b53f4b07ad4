"""What a run did, held against the rule that let it run without asking. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..labels import Deed, Observation, Rule

DID: dict[Deed, str] = {
    "held": "reached a limit of the sandbox",
    "refused": "tried to connect to other hosts",
    "connected": "reached hosts of the network",
    "programs": "started programs",
    "writes": "changed files",
    "reads": "read other files",
    "lost": "did more than can be followed",
    "changes": "changed your variables",
}
"""What people and the model read."""
_SERVERS = (".jupyter_ystore.db", ".jupyter_ystore.db-journal")
"""Files that a Jupyter server writes beside a notebook."""
_FOLDERS = (".ipynb_checkpoints", ".virtual_documents")
"""Folders of copies of notebooks, by their names."""


def sentence(seen: Iterable[Observation]) -> str:
    """For a terminal; "" for nothing."""
    said = []
    for one in seen:
        if one.kind == "held":
            continue  # the result has its sentence
        more = (f"{one.more} more",) if one.more else ()
        names = ", ".join((*one.names, *more))
        said.append(f"{DID[one.kind]} ({names})" if names else DID[one.kind])
    return f"It {', '.join(said)}." if said else ""


def of_the_code(observed: Iterable[Observation], notebook: str) -> tuple[Observation, ...]:
    """Without the files that the server itself reads and writes: those of the notebook (its path
    on the server), and of extensions."""
    name = notebook.rpartition("/")[2]
    stem = name.rpartition(".")[0] or name
    own = {name, f".~{name}", *_SERVERS}
    found: list[Observation] = []
    for one in observed:
        names = one.names
        if one.kind in ("writes", "reads"):
            names = tuple(n for n in names if n not in own and not _is_copy(n, stem))
        if one.kind == "writes":
            # Who changes a file opens it.
            own.update(names)
        if names or one.kind in ("programs", "lost"):
            found.append(msgspec.structs.replace(one, names=names))
    return tuple(found)


def _is_copy(path: str, stem: str) -> bool:
    """Of this notebook, or their folder."""
    folder, _, file = path.partition("/")
    return folder in _FOLDERS and (not file or file.startswith(stem))


def beyond(rule: Rule, observed: Iterable[Observation]) -> tuple[Observation, ...]:
    """What the rule does not allow: all but reading its files, and being held back."""
    found: list[Observation] = []
    for one in observed:
        names = one.names
        if one.kind == "reads":
            names = tuple(name for name in names if name not in rule.files)
        if one.kind != "held" and (names or one.kind in ("programs", "lost")):
            found.append(msgspec.structs.replace(one, names=names))
    return tuple(found)
