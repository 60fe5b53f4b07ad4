"""Copies variables of the person's kernel, or changes data in a fresh one before the cells run.
This file's text runs **in the kernel**, with the libraries that are installed there."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from .excel import change_excel
from .parquet import change_parquet
from .refusal import CannotChange
from .variables import copied, restored

INPUTS = "jupyter_codeinterp.inputs"
BY_KIND: dict[str, Callable[[str, dict[str, Any], str, int], dict[str, int]]] = {
    "excel": change_excel,
    "parquet": change_parquet,
}


def changed(asked: dict[str, Any], namespace: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """``asked``: ``folder``; ``files`` by name, each with ``format``; ``variables``, a file there
    with their copies, or ""; and the change's ``kind`` and ``number``. Without a kind nothing
    changes. For each its rows and outliers before the change, or ``refused``."""
    kind, number = asked["kind"], asked["number"]
    found: dict[str, dict[str, Any]] = {}

    def attempt(name: str, work: Callable[[], dict[str, int]]) -> None:
        try:
            found[name] = dict(work())
        except CannotChange as refused:
            found[name] = {"refused": refused.code, "detail": refused.detail}
        except Exception as error:
            # The libraries raise anything on a file that they cannot read.
            found[name] = {"refused": "failed", "detail": type(error).__name__}

    for name, about in asked["files"].items():
        path = os.path.join(asked["folder"], name)  # noqa: PTH118
        change = BY_KIND[about["format"]]
        attempt(name, lambda c=change, p=path, a=about: c(p, a, kind, number))  # type: ignore[misc]
    if asked["variables"]:
        path = os.path.join(asked["folder"], asked["variables"])  # noqa: PTH118
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            copies = json.load(file)
        os.remove(path)  # noqa: PTH107 - the cells find the folder as it is
        for name, text in copies.items():

            def restore(name: str = name, text: str = text) -> dict[str, int]:
                namespace[name], facts = restored(text, kind, number)
                return facts

            attempt(name, restore)
    return found


def answer(asked: dict[str, Any]) -> str:
    namespace = sys.modules["IPython"].get_ipython().user_ns
    copies = asked.get("copy")
    return json.dumps(copied(copies, namespace) if copies else changed(asked, namespace))


if __name__ == INPUTS:
    ANSWER = answer(json.loads(globals()["ASKED"]))
