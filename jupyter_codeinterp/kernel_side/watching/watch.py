"""Watches cells of the agent: variables before and after, and calls of pandas in between. This
file's text runs **in the kernel**.

It uses one ``Budget`` per cell. The reply to the cell carries the report as a
payload, which only our server reads. It watches only cells of our own connection and adds no name
to the person's. Standard library only.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import json
import os
import sys
import time
from typing import Any

from ..absent import absent
from ..expected import seen
from ..mark import LOOKS_AT, WATCH
from .budget import Budget
from .calls import OLDEST, Code, Tracer
from .changes import changes, fingerprints
from .profile import profiles
from .statuses import Statuses
from .watched import watched

BEFORE, AFTER, TABLES = 0.35, 0.9, 1.0
"""Shares of the time that are spent after reading the variables before the cell, the variables
after it, and its tables."""
LARGEST = 100_000
"""Characters of a report."""


class Watch:
    """``session``: the one of our connection."""

    def __init__(self, shell: Any, session: str) -> None:
        self.shell = shell
        self.session = session
        self.own: dict[str, int] = {}
        """Variables that cells of the agent made, and the ids of their values after them."""
        self.before: dict[str, Any] | None = None
        self.loops: frozenset[str] = frozenset()
        self.budget = Budget()
        self.tracer: Tracer | None = None
        self.hook: WhenImported | None = None
        self.statuses = Statuses()

    def begin(self, info: Any) -> None:
        self.finish()
        if not self.is_ours():
            return
        began, self.budget = time.thread_time(), Budget()
        self.statuses.failed = []
        try:
            self.before = self.variables(BEFORE)
            code = Code(info.transformed_cell or info.raw_cell)
            self.loops = code.loops
            self.trace(info, code)
        except Exception:
            # The cell runs all the same, unwatched.
            self.finish()
        self.budget.spent += time.thread_time() - began

    def end(self, result: Any) -> None:
        if self.before is None:
            return
        try:
            tracer, before = self.tracer, self.before
            self.finish()
            # Before the look at the variables, which then sees effects of this.
            error = result.error_in_exec
            report: dict[str, Any] = {"statuses": self.statuses.told(error)}
            if error is not None:
                report["absent"] = absent(error, self.shell.user_ns)
            until = self.budget.deadline(TABLES)
            after = self.variables(AFTER)
            found = changes(before, after)
            for change in found:
                name = change["name"]
                change["persons"] = name in before and self.own.get(name) != before[name]["id"]
                if not change["persons"] and name in after:
                    self.own[name] = after[name]["id"]
            namespace = self.shell.user_ns
            report |= {
                "facts": tracer.facts if tracer is not None else [],
                "changes": found,
                "tables": profiles(found, after, namespace, until, self.loops),
            }
            self.tell(dict(report, **self.expected(result)))
        except Exception:
            self.finish()

    def expected(self, result: Any) -> dict[str, Any]:
        """Facts about the result, if the request asks for them."""
        wanted = self.metadata.get(LOOKS_AT) or {}
        if "name" not in wanted:
            return {}
        try:
            return {"result": seen(wanted, self.shell.user_ns, result.result)}
        except Exception:
            # A look at values of any kind may fail. The other facts stay.
            return {}

    @property
    def metadata(self) -> dict[str, Any]:
        found: dict[str, Any] = self.shell.kernel.get_parent("shell").get("metadata", {})
        return found

    def finish(self) -> None:
        """Remove everything that watches the cell."""
        tracer, self.tracer, self.before = self.tracer, None, None
        hook, self.hook = self.hook, None
        if hook is not None:
            hook.remove()
        if tracer is not None:
            tracer.stop()

    def is_ours(self) -> bool:
        header = self.shell.kernel.get_parent("shell").get("header", {})
        return bool(header.get("session") == self.session)

    def variables(self, share: float) -> dict[str, Any]:
        deadline = self.budget.deadline(share)
        return fingerprints(self.shell.user_ns, self.shell.user_ns_hidden, deadline)

    def trace(self, info: Any, code: Code) -> None:
        shell = self.shell
        if sys.version_info < OLDEST:
            return
        plain = info.transformed_cell or info.raw_cell
        if "pandas" not in sys.modules and "pandas" not in code.modules:
            return
        name = shell.compile.get_code_name(info.raw_cell, plain, shell.execution_count)
        tracer = self.tracer = Tracer(name, shell.user_ns, self.budget)
        start = functools.partial(self.start, tracer)
        if "pandas" in sys.modules:
            start()
        else:
            self.hook = WhenImported("pandas", start)

    def start(self, tracer: Tracer) -> None:
        try:
            folder = os.path.dirname(sys.modules["pandas"].__file__ or "")  # noqa: PTH120
            tracer.start(watched(), folder)
        except Exception:
            # A different kind of pandas. The cell goes on, unwatched.
            tracer.stop()

    def tell(self, report: dict[str, Any]) -> None:
        """Send the report, without its last facts and changes if it is too large."""
        while len(json.dumps(report)) > LARGEST and (report["facts"] or report["changes"]):
            longest = max(("facts", "changes"), key=lambda name: len(report[name]))
            del report[longest][len(report[longest]) // 2 :]
        if any(report.values()):
            report["source"] = WATCH
            self.shell.payload_manager.write_payload(report)


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
    watch.statuses.install(shell)
    shell.events.register("pre_run_cell", watch.begin)
    shell.events.register("post_run_cell", watch.end)


if __name__ == WATCH:
    install(sys.modules["IPython"].get_ipython(), globals()["SESSION"])
