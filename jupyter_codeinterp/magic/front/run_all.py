"""Stops "Run All" at a prompt that waits for a click: later cells may need its result."""

from __future__ import annotations

from typing import Any

from ..asking.typed import request

HELD = (
    "If you chose Run All, it stops here: the cells below did not run. Run them after your "
    "decision."
)


def hold_back(shell: Any) -> None:
    """Abort the cells that wait in the kernel, as it does itself after an error. An error would
    do the same, but the prompt has not failed."""
    kernel = shell.kernel
    abort = getattr(kernel, "_abort_queues", None)
    if abort is None:
        return
    if hasattr(kernel, "shell_channel_thread"):  # ipykernel 7
        abort(request(shell).get("header", {}).get("subshell_id"))
    else:
        abort()
