"""Code that runs our own files in a kernel and adds no name to the person's namespace."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .... import kernel_side

FOLDER = Path(kernel_side.__file__).parent
"""Where the files are that run in the kernel."""
_OWN_IMPORT = re.compile(r"^from \.+[\w.]+ import (?:\([^)]*\)|.*)$", re.MULTILINE)


def one_file(name: str, **names: str) -> str:
    """Code that runs one of our files in its own namespace."""
    return f"__import__('builtins').exec({_text(name)!r}, {names!r})"


def files(paths: Sequence[str], **names: str) -> str:
    """Code that runs files without the imports between them, in the order of their imports. Each
    has a namespace of its own, which begins with the names of those before it: a name of two
    files stays two."""
    return f"({namespace(paths, names)} and None)"


def answer_of(paths: Sequence[str], **names: str) -> str:
    """An expression that runs files as ``files`` does; its value is the last one's ``ANSWER``."""
    return f"{namespace(paths, names)}['ANSWER']"


def namespace(paths: Sequence[str], names: dict[str, str]) -> str:
    """An expression that runs files as ``files`` does; its value is the last one's namespace."""
    plain = list(map(plain_text, paths))
    return (
        "(lambda b, reduce, texts, names: reduce(lambda earlier, text:"
        " (lambda own: b.exec(text, own) or own)({**earlier}), texts, names))"
        f"(__import__('builtins'), __import__('functools').reduce, {plain!r}, {names!r})"
    )


def plain_text(path: str) -> str:
    """The text of a file without its imports of our other files: it runs with their names."""
    return _OWN_IMPORT.sub("", _text(path))


def _text(path: str) -> str:
    return (FOLDER / f"{path}.py").read_text(encoding="utf-8")
