"""The same two people in Chromium (browser.mjs)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from asyncio.subprocess import PIPE
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .checks import Checks
from .hub import Hub

SCRIPT = Path(__file__).with_name("browser.mjs")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


async def look(checks: Checks, running: Hub, words: Mapping[str, str]) -> None:
    """``words``: what each says, and nobody else may see."""
    seen = await _drive(running, words)
    for name, word in words.items():
        page, (other,) = seen["pages"][name], [one for one in words.values() if one != word]
        checks.that(f"{name}'s cell ran", "1 + 1" in page["sources"], page)
        checks.that(f"{name} reads the answer", "It is 2." in page["panel"], page["panel"])
        checks.that(f"nothing of the other in {name}'s page", other not in page["text"])
        own = f"/user/{name}/codeinterp/"
        elsewhere = [url for url in page["requests"] if own not in url]
        checks.that(f"{name}'s panel asks {name}'s server alone", not elsewhere, elsewhere)
        checks.that(f"{name}'s page reports no errors", not page["errors"], page["errors"])
    reached = {url: status for url, status in seen["reached"].items() if status not in (403, 404)}
    checks.that("scripts in Bob's page reach nothing of Alice's", not reached, seen["reached"])
    shared = seen["shared"]
    checks.that("Alice's unsent text is there for her", words["alice"] in shared["hers"], shared)
    checks.that("… and not for Bob in the same browser", shared["his"] == "", shared["his"])


async def _drive(running: Hub, words: Mapping[str, str]) -> dict[str, Any]:
    executable = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), "")
    given = {
        "url": running.url,
        "password": running.password,
        "words": words,
        "executable": executable,
    }
    process = await asyncio.create_subprocess_exec(
        "node", str(SCRIPT), stdin=PIPE, stdout=PIPE, start_new_session=True
    )
    out, _ = await process.communicate(json.dumps(given).encode())
    if process.returncode:
        raise RuntimeError("the browser's part failed")
    return dict(json.loads(out))
