"""A JupyterLab with a package for collaboration, in an environment that scripts/engines makes."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from scripts.benchmark.servers import PATIENCE, Server, free_port, wait_until_it_answers

ROOT = Path(__file__).parents[2]
COLLABORATION = ROOT / ".packages" / "collaboration"
SERVER_DOCUMENTS = ROOT / ".packages" / "server-documents"


class Site:
    def __init__(
        self, folder: Path, model_url: str, settings: Mapping[str, object], environment: Path
    ) -> None:
        """Nothing runs before ``start``. ``folder`` is this server's own; ``settings`` are its
        options."""
        self.environment = environment
        self.notebooks = folder / "notebooks"
        self.notebooks.mkdir(parents=True)
        self.log = folder / "server.log"
        port, self.token = free_port(), secrets.token_hex(16)
        self.server = Server(f"http://127.0.0.1:{port}", self.token, folder)
        self._command = [
            *(str(environment / "bin" / "python"), "-m", "jupyterlab", "--allow-root"),
            *("--no-browser", "--expose-app-in-browser", "--ServerApp.ip=127.0.0.1"),
            *(f"--ServerApp.root_dir={self.notebooks}", f"--ServerApp.port={port}"),
            *("--ServerApp.port_retries=0", "--LabApp.news_url="),
            *(f"--{name}={value}" for name, value in settings.items()),
        ]
        own = {f"{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
        self._variables = {
            **os.environ,
            **{f"JUPYTER_{kind}": value for kind, value in own.items()},
            "JUPYTER_TOKEN": self.token,
            "IPYTHONDIR": str(folder / "ipython"),
            "ANTHROPIC_BASE_URL": model_url,
            "ANTHROPIC_API_KEY": "sk-ant-rooms-0123456789",
        }
        self._process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        await asyncio.to_thread(self._start)

    def _start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self.notebooks,
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_until_it_answers(self.server, self._process)

    async def stop(self, *, kill: bool = False) -> None:
        if self._process is None:
            return
        self._process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            await asyncio.to_thread(self._process.wait, PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def write(self, name: str, notebook: Mapping[str, Any]) -> None:
        (self.notebooks / name).write_text(json.dumps(notebook))

    def read(self, name: str) -> dict[str, Any]:
        return dict(json.loads((self.notebooks / name).read_text()))

    async def fetch(self, route: str) -> Any:
        async with httpx.AsyncClient(headers=dict(self.server.headers)) as client:
            answer = await client.get(f"{self.server.url}/{route}")
        answer.raise_for_status()
        return answer.json()


def notebook_of(*sources: str) -> dict[str, Any]:
    """A notebook with these code cells: c0, c1 …"""
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {
        "cells": [
            {
                "id": f"c{number}",
                "cell_type": "code",
                "source": source,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for number, source in enumerate(sources)
        ],
        "metadata": {"kernelspec": kernelspec, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
