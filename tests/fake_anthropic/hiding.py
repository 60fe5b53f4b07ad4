"""Conversations whose code is not to be seen at a glance, or shows what it should not."""

from __future__ import annotations

from .scripts import Script, scenario
from .turns import answer, run_cell, text

SCRIPT = """\
from IPython.display import HTML

HTML(
    "<b>bold</b><script>window.hacked = true</script>"
    "<img src=x onerror='window.hacked = true'>"
)"""
PAYLOAD = "payload = 1\npayload += 1"


def _one(source: str, title: str) -> Script:
    return scenario(answer(run_cell(source, title=title)), answer(text("Done.")))


HIDING: dict[str, Script] = {
    "payload_above": _one(f"{PAYLOAD}{chr(10) * 501}total = 1", "Add it up"),
    "payload_beside": _one(f"total = 1;{' ' * 300}payload = 1", "Add it up"),
    "script": _one(SCRIPT, "Show it"),
}
