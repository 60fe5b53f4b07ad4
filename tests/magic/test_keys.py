"""Whose key `%%ai` asks with in a kernel that no server with the extension has started, and that no
code sees it by looking around."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fake_anthropic import FakeAnthropic, answer, run_cell, text
from tests.magic.notebooks import KEY, run, said

KEPT = "sk-ant-kept-0123456789-canary"
LOOK_AROUND = """\
import gc, json, os, sys
print(globals()); print(dict(os.environ))
print(In, Out, _ih, _oh); print(list(get_ipython().history_manager.get_tail(100)))
%history
%whos
print(open(get_ipython().history_manager.hist_file, "rb").read() if os.path.isfile(
    get_ipython().history_manager.hist_file) else "")"""


def keep(folder: Path, url: str, **kept: str) -> dict[str, Any]:
    """The environment of a kernel that has no key there, beside what a person has kept."""
    file = folder / "codeinterp" / "credentials.json"
    file.parent.mkdir(mode=0o700)
    connections = {"anthropic": {"url": url, **kept}}
    file.write_text(json.dumps({"version": 2, "connections": connections}))
    nothing = {"ANTHROPIC_API_KEY": "", "ANTHROPIC_BASE_URL": ""}
    return {**nothing, "JUPYTER_DATA_DIR": str(folder)}


async def test_a_kept_key_is_used_and_seen_nowhere(api: FakeAnthropic, tmp_path: Path) -> None:
    env = keep(tmp_path, api.url, key=KEPT)
    # Code that contains a part of a key asks even with -y; this code only prints one.
    prints_it = f"print(''.join(chr(n - 1) for n in {[ord(c) + 1 for c in KEPT]}))"
    api.play([answer(run_cell(prints_it)), answer(text("Done."))])
    cells = await run(api, "%%ai -y\ndo it", LOOK_AROUND, **env)
    assert "Done." in said(cells[0])
    assert [exchange.headers["x-api-key"] for exchange in api.requests] == [KEPT, KEPT]
    assert KEPT not in said(cells[1]), "no variable, no history, no environment has it"
    assert KEPT not in json.dumps(api.requests[1].body), "what prints it is not told to the model"


async def test_a_key_of_the_environment_comes_before_a_kept_one(
    api: FakeAnthropic, tmp_path: Path
) -> None:
    env = {
        **keep(tmp_path, api.url, key=KEPT),
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": api.url,
    }
    api.play(lambda request: answer(text("Done.")))
    (asked,) = await run(api, "%%ai --plan\nhello", **env)
    assert "Done." in said(asked)
    assert [exchange.headers["x-api-key"] for exchange in api.requests] == [KEY]


async def test_what_an_admin_allows_holds_here_too(api: FakeAnthropic, tmp_path: Path) -> None:
    """And where it cannot be read, nobody answers."""
    env = keep(tmp_path, api.url, key=KEPT)
    config = tmp_path / "config" / "jupyter_server_config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"CodeInterp": {"keys_from_environment": True}}))
    env["JUPYTER_CONFIG_DIR"] = str(config.parent)
    (refused,) = await run(api, "%%ai --plan\nhello", **env)
    assert "needs an API key" in said(refused) and "Traceback" not in said(refused)
    config.write_text("{")
    (broken,) = await run(api, "%%ai --plan\nhello", **env)
    assert "which may set a limit" in said(broken)
    assert api.exchanges == []
