"""What a run has to do with packages: a module that is missing, or packages that it installed."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ..approval.installs import requirements
from ..hooks.hook import CellCode
from ..messages import Text
from ..model_view.distributions import hint
from ..off_loop import off_loop
from ..ports import ExecutionDone
from ..turn.results import Result

_ENDS = 20_000
"""Characters of an output that are read, from its end."""
_FAILED = re.compile(r"^(?:\x1b\[[\d;]*m)*(?:ERROR:|error:|\s{0,2}\u00d7)", re.MULTILINE)
"""How pip and uv begin the line of an error. ``%pip`` itself then succeeds."""
MOST = 20
"""Requirements of one run."""


async def after_run(code: CellCode, done: ExecutionDone, result: Result) -> Result:
    """Tell the model which package a missing module is in, and the person what was installed."""
    if code.language.lower() != "python":
        return result
    if result.done.status == "error":
        return _hinted(code, done, result)
    if result.done.status != "ok" or any(map(_has_failed, done.outputs)):
        return result
    installed = await off_loop(lambda: requirements(code.source), len(code.source), lambda: ())
    if not installed:
        return result
    told = msgspec.structs.replace(result.done, installed=installed[:MOST])
    return msgspec.structs.replace(result, done=told)


def _hinted(code: CellCode, done: ExecutionDone, result: Result) -> Result:
    error: dict[str, Any] = done.outputs[-1] if done.outputs else {}
    if error.get("ename") != "ModuleNotFoundError":
        return result
    modules = {name.removesuffix(".py").rstrip("/") for name in code.files}
    words = hint(str(error.get("evalue", ""))[:200], modules)
    if not words:
        return result
    block, told = result.block, result.done
    return msgspec.structs.replace(
        result,
        block=msgspec.structs.replace(block, content=(*block.content, Text(f"\n{words}"))),
        done=msgspec.structs.replace(told, detail=f"{told.detail}\n{words}"),
    )


def _has_failed(output: dict[str, Any]) -> bool:
    text = output.get("text", "") if output.get("output_type") == "stream" else ""
    return isinstance(text, str) and _FAILED.search(text[-_ENDS:]) is not None
