"""Start this environment's JupyterLab and ask it for the extension, as a browser would.

ENVIRONMENT/bin/python scripts/wheel/served.py
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

TOKEN = "only-for-this-check"
SECONDS = 120


def get(url: str) -> bytes:
    with urlopen(Request(url, headers={"Authorization": f"token {TOKEN}"}), timeout=10) as answer:
        content: bytes = answer.read()
    return content


def status(url: str, server: subprocess.Popen[bytes]) -> Any:
    """The extension's status, as soon as the server answers."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return json.loads(get(f"{url}/codeinterp/api/status"))
        except (URLError, ConnectionError):
            if server.poll() is not None or time.monotonic() > deadline:
                raise
        time.sleep(0.2)


def page_settings(url: str) -> Any:
    """The configuration of JupyterLab's page, with the extensions that it loads."""
    page = get(f"{url}/lab").decode()
    start = page.index('<script id="jupyter-config-data"')
    start = page.index(">", start) + 1
    return json.loads(page[start : page.index("</script>", start)])


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


def main() -> None:
    if node := shutil.which("node"):
        sys.exit(f"The path has Node.js: {node}")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        home = {name: folder for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
        server = subprocess.Popen(
            [*command, f"--ServerApp.root_dir={folder}"],
            cwd=folder,
            env={**os.environ, **home, "JUPYTER_TOKEN": TOKEN},
        )
        try:
            version = status(url, server)["version"]
            loaded = page_settings(url)["federated_extensions"]
            (own,) = [one for one in loaded if one["name"] == "jupyter-codeinterp"]
            entry = get(f"{url}/lab/extensions/jupyter-codeinterp/{own['load']}")
        finally:
            server.terminate()
            server.wait(timeout=30)
    print(f"version {version}, {Path(own['load']).name} with {len(entry)} bytes")


if __name__ == "__main__":
    main()
