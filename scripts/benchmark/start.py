"""Measures the extension's share of the server's start: with and without it, in pairs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from jupyter_core.paths import jupyter_config_path

from .figures import Bound, Figure
from .servers import Server, jupyter_server

OURS = "jupyter_codeinterp"
IMPORT = """
import time
import jupyter_server.extension.application
import jupyter_server.serverapp
began = time.perf_counter()
import jupyter_codeinterp.server.app
print(time.perf_counter() - began)
"""
IMPORTS = 9
PAIRS = 21
"""Number of pairs. The first one is not counted."""


def measure() -> list[Figure]:
    pairs = [_pair(first_with=number % 2 == 0) for number in range(PAIRS)][1:]
    shares = [with_ours.wall - without.wall for with_ours, without in pairs]
    used = [with_ours.cpu - without.cpu for with_ours, without in pairs]
    imports = [_import() for _ in range(IMPORTS)]
    return [
        Figure("import of the server extension", imports, "ms", (Bound(30, "median"),)),
        Figure("share of server start", [s * 1000 for s in shares], "ms", (Bound(50, "median"),)),
        Figure("… in processor time", [s * 1000 for s in used], "ms", (Bound(50, "median"),)),
    ]


def _import() -> float:
    """Milliseconds of the import, after the modules that every server imports."""
    run = subprocess.run([sys.executable, "-c", IMPORT], check=True, capture_output=True, text=True)
    return float(run.stdout) * 1000


def _pair(first_with: bool) -> tuple[Server, Server]:
    """A start with the extension, and one without."""
    first, second = _start(first_with), _start(not first_with)
    return (first, second) if first_with else (second, first)


def _start(with_ours: bool) -> Server:
    with jupyter_server(extensions={**others_off(), OURS: with_ours}) as server:
        return server


def others_off() -> dict[str, bool]:
    """Settings that switch off all other extensions of this environment."""
    folders = [Path(folder) / "jupyter_server_config.d" for folder in jupyter_config_path()]
    files = [path for folder in folders for path in folder.glob("*.json")]
    configs = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    return {
        name: False
        for config in configs
        for name in config.get("ServerApp", {}).get("jpserver_extensions", {})
    }
