"""Tells the model which package a missing module is in."""

from __future__ import annotations

from typing import Any

from ..hooks.hook import CellCode
from ..model_view.distributions import hint
from ..ports import ExecutionDone
from ..turn.results import Result, noted


def after_run(code: CellCode, done: ExecutionDone, result: Result) -> Result:
    if code.language.lower() != "python" or result.done.status != "error":
        return result
    error: dict[str, Any] = done.outputs[-1] if done.outputs else {}
    if error.get("ename") != "ModuleNotFoundError":
        return result
    modules = {name.removesuffix(".py").rstrip("/") for name in code.files}
    words = hint(str(error.get("evalue", ""))[:200], modules)
    return noted(result, words) if words else result
