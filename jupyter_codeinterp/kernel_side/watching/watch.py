"""Watches cells of the agent: variables before and after, and calls of pandas
and polars in between. This
file's text runs **in the kernel**.

The reply to the cell carries the report as a payload, which only our server reads. It watches
only cells of our own connection and adds no name to the person's. Standard library only.
"""

from __future__ import annotations

import ast
import functools
import importlib.abc
import importlib.util
import json
import os
import sys
from typing import Any

from ..expected import seen
from ..held import held
from ..mark import LOOKS_AT, TRIES, WATCH
from .calls import OLDEST, Code, Tracer
from .changes import changes, fingerprints
from .constants import repeated
from .polars_calls import watched_polars
from .profile import profiles
from .watched import families, watched

LIBRARIES = ("pandas", "polars")
LARGEST = 100_000
"""Characters of a report."""


class Watch:
    """``session`` is that of our connection."""

    def __init__(self, shell: Any, session: str) -> None:
        self.shell = shell
        self.session = session
        self.own: dict[str, int] = {}
        """Variables that cells of the agent made, and the ids of their values after them."""
        self.before: dict[str, Any] | None = None
        self.facts: list[dict[str, Any]] = []
        """What the code shows beside the variables."""
        self.assigned: list[str] = []
        """Names that the code assigns."""
        self.tracer: Tracer | None = None
        self.hooks: list[WhenImported] = []
        self.watched: list[str] = []
        """What is looked at in this run; nothing if it is not watched in full."""

    def begin(self, info: Any) -> None:
        self.finish()
        if not self.is_ours():
            return
        try:
            self.before = self.variables()
            code = Code(info.transformed_cell or info.raw_cell)
            shell = self.shell
            self.assigned = assigned(code.tree)
            self.facts = repeated(code.tree, shell.user_ns, shell.user_ns_hidden)
            self.trace(info, code)
        except Exception:
            # The cell runs all the same, unwatched.
            self.finish()

    def end(self, result: Any) -> None:
        if self.before is None:
            return
        try:
            tracer, before, facts = self.tracer, self.before, self.facts
            self.finish()
            # First: what a call changes is a change by the cell.
            examples = self.examples(result, before)
            after = self.variables()
            found = changes(before, after)
            for change in found:
                name = change["name"]
                change["persons"] = name in before and self.own.get(name) != before[name]["id"]
                if not change["persons"] and name in after:
                    self.own[name] = after[name]["id"]
            facts = [*facts, *(tracer.facts if tracer else [])]
            namespace = self.shell.user_ns
            tables = profiles(found, before, after, namespace)
            report = {"facts": facts, "changes": found, "tables": tables, "watched": self.watched}
            names = [*self.assigned, *(change["name"] for change in found)]
            report["held"] = held(dict.fromkeys(n for n in names if n in after), namespace)
            self.tell(dict(report, **self.expected(result), **examples))
        except Exception:
            self.finish()

    def expected(self, result: Any) -> dict[str, Any]:
        """What became of the result that the request asks to look at."""
        wanted = self.metadata.get(LOOKS_AT) or {}
        if "name" not in wanted:
            return {}
        try:
            return {"result": seen(wanted, self.shell.user_ns, result.result)}
        except Exception:
            # A look at values of any kind may fail. The other facts stay.
            return {}

    def examples(self, result: Any, before: dict[str, Any]) -> dict[str, Any]:
        """What became of the examples in the request, if the cell has run."""
        metadata = self.metadata
        wanted = (metadata.get(LOOKS_AT) or {}).get("examples")
        if not wanted or not result.success:
            return {}
        values = self.shell.user_ns
        own = dict(globals())

        def is_new(name: str) -> bool:
            return name not in before or before[name]["id"] != id(values.get(name))

        try:
            exec(metadata[TRIES], own)
            return {"examples": own["tried"](wanted, self.shell, is_new)}
        except Exception:
            # The code may have changed what a call needs. The other facts stay.
            return {}

    @property
    def metadata(self) -> dict[str, Any]:
        found: dict[str, Any] = self.shell.kernel.get_parent("shell").get("metadata", {})
        return found

    def finish(self) -> None:
        """Remove everything that watches the cell."""
        tracer, self.tracer, self.before = self.tracer, None, None
        while self.hooks:
            self.hooks.pop().remove()
        if tracer is not None:
            tracer.stop()

    def is_ours(self) -> bool:
        header = self.shell.kernel.get_parent("shell").get("header", {})
        return bool(header.get("session") == self.session)

    def variables(self) -> dict[str, Any]:
        return fingerprints(self.shell.user_ns, self.shell.user_ns_hidden)

    def trace(self, info: Any, code: Code) -> None:
        shell = self.shell
        self.watched = []
        if sys.version_info < OLDEST:
            return
        self.watched = ["variables"]
        plain = info.transformed_cell or info.raw_cell
        libraries = [name for name in LIBRARIES if name in sys.modules or name in code.modules]
        if not libraries:
            return
        name = shell.compile.get_code_name(info.raw_cell, plain, shell.execution_count)
        tracer = self.tracer = Tracer(name, shell.user_ns)
        for library in libraries:
            start = functools.partial(self.start, library, tracer, code)
            if library in sys.modules:
                start()
            else:
                self.hooks.append(WhenImported(library, start))

    def start(self, library: str, tracer: Tracer, code: Code) -> None:
        try:
            folder = os.path.dirname(sys.modules[library].__file__ or "")  # noqa: PTH120
            tracer.start(watched(code) if library == "pandas" else watched_polars(), folder)
            self.watched += families(code, library)
        except Exception:
            # A package of another make. The cell goes on, unwatched.
            tracer.stop()
            self.watched = []

    def tell(self, report: dict[str, Any]) -> None:
        """Bounded: first the last facts go, then all."""
        while len(json.dumps(report)) > LARGEST and (report["facts"] or report["changes"]):
            longest = max(("facts", "changes"), key=lambda name: len(report[name]))
            del report[longest][len(report[longest]) // 2 :]
        told = report["facts"] or report["changes"] or report["watched"] or report["held"]
        if told or "result" in report or "examples" in report:
            report["source"] = WATCH
            self.shell.payload_manager.write_payload(report)


def assigned(tree: ast.AST) -> list[str]:
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return [node.id for node in names if isinstance(node.ctx, ast.Store)]


class WhenImported(importlib.abc.MetaPathFinder):
    """Calls ``then`` right after the first import of the module ``name``."""

    def __init__(self, name: str, then: Any) -> None:
        self.name = name
        self.then = then
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != self.name:
            return None
        self.remove()
        spec = importlib.util.find_spec(fullname)
        loader = spec.loader if spec is not None else None
        if loader is None:
            return spec
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            try:
                execute(module)
            finally:
                del loader.exec_module
            self.then()

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def install(shell: Any, session: str) -> None:
    for callback in shell.events.callbacks["pre_run_cell"]:
        if getattr(getattr(callback, "__self__", None), "session", "") == session:
            return
    watch = Watch(shell, session)
    shell.events.register("pre_run_cell", watch.begin)
    shell.events.register("post_run_cell", watch.end)


if __name__ == WATCH:
    install(sys.modules["IPython"].get_ipython(), globals()["SESSION"])
