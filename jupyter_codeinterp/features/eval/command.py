"""``eval``: runs tasks, prints a table and writes the results folder."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec
from jupyter_client.kernelspec import KernelSpecManager
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn
from traitlets.config import Config

from ..._version import __version__
from ...app import config as config_files
from ...app.settings import CodeInterpSettings
from ...base.sentences import in_english
from ...base.visible import visible_line
from ...cli.commands.run import apply_limits
from ...cli.local.problems import DONE, FAILED, INTERRUPTED, USAGE, Problem
from ...cli.terminal.stopping import Stopping
from ...run.approval.modes import HIGHEST
from ...sandbox import doctor, install
from ...view.redaction.secrets import Secrets
from .results import page, table
from .tasks import find
from .trial import Setup, Trial, Tried


def eval(options: argparse.Namespace, stopping: Stopping) -> int:
    tasks = find(options.tasks)
    if options.list:
        print("\n".join(visible_line(f"{one.name:24} {one.spec.about}") for one in tasks))
        return DONE
    recordings = Path(options.recordings) if options.recordings else None
    if recordings:
        tasks = [one for one in tasks if (recordings / f"{one.name}.jsonl").is_file()]
    if not tasks:
        raise Problem(f"{recordings} has no recording of these tasks.", USAGE)
    config = config_files.load()
    settings = _settings(config)
    models = settings.make_models(Secrets())
    model = options.model or models.default
    if recordings is None:
        models.check(model)
    kernel, where = _kernel(config)
    prefix = time.strftime("codeinterp-eval-%Y%m%d-%H%M-")
    folder = Path(options.output or tempfile.mkdtemp(prefix=prefix, dir="."))
    folder.mkdir(parents=True, exist_ok=not options.output)
    setup = Setup(config, settings, model, kernel, recordings)
    trials = [Trial(task, run, setup) for run in range(1, options.runs + 1) for task in tasks]
    title = "recordings" if recordings else model
    _say(f"Runs: {len(trials)}, with {title}. {where}")
    work = _Work(trials, options.json)
    asyncio.run(work.do(options.jobs, stopping))
    done = sorted(work.done, key=lambda one: (one.attempt.task, one.attempt.run))
    if done:
        _write(folder, title, kernel, done)
        if not options.json:
            print(table([tried.attempt for tried in done]))
        _say(f"Results: {folder / 'index.md'}")
    else:
        folder.rmdir()
    if stopping.stopped:
        raise Problem(f"Interrupted after {len(done)} of {len(trials)} runs.", INTERRUPTED)
    return DONE if all(tried.attempt.solved for tried in done) else FAILED


def _settings(config: Config) -> CodeInterpSettings:
    """The person's settings without MCP servers, so that tasks are the same for everybody. Raises
    Problem if the admin's limits forbid this."""
    settings = config_files.settings(config)
    apply_limits(settings, HIGHEST, None)
    if settings.day_cost is not None:
        limit = "c.CodeInterp.day_cost"
        raise Problem(f"eval is not possible with a limit of a day's cost ({limit}).", USAGE)
    settings.mcp_servers, settings.mcp_own_servers = {}, False
    return settings


def _kernel(config: Config) -> tuple[str, str]:
    """The sandboxed kernelspec, "" if there is none, and a sentence on where code runs."""
    specs = KernelSpecManager(config=config)
    if not (name := install.installed(specs)):
        missing = "To have a sandbox: jupyter codeinterp sandbox install"
    elif not (missing := doctor.problem() or ""):
        provisioner = specs.get_kernel_spec(name).metadata["kernel_provisioner"]
        if not provisioner.get("config", {}).get("overlay"):
            return name, f"Code runs in the kernel {name}."
        missing = f"In {name}, files of a task would wait in an overlay."
    return "", f"No sandbox: the model's code runs as you, in copies of the tasks. {missing}"


class _Work:
    """``done``: the finished runs."""

    def __init__(self, trials: list[Trial], json: bool) -> None:
        self._waiting = trials.copy()
        self._running: set[Trial] = set()
        self._json = json
        self.done: list[Tried] = []

    async def do(self, jobs: int, stopping: Stopping) -> None:
        console = Console(stderr=True)
        columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        off = not console.is_terminal
        with Progress(*columns, console=console, transient=True, disable=off) as bar:
            line = bar.add_task("", total=len(self._waiting))
            with stopping.by(self._stop, self._kill):
                workers = (self._work(partial(bar.advance, line)) for _ in range(jobs))
                await asyncio.gather(*workers)

    async def _work(self, advance: Callable[[], None]) -> None:
        while self._waiting:
            self._running.add(trial := self._waiting.pop(0))
            tried = await trial.tried()
            self._running.discard(trial)
            attempt = tried.attempt
            if not trial.stopping.stopped:
                self.done.append(tried)
                advance()
                if self._json:
                    print(msgspec.json.encode(attempt, enc_hook=in_english).decode(), flush=True)
                outcome = attempt.problem or "; ".join(attempt.faults) or "solved"
                _say(f"{attempt.task} {attempt.run}: {outcome}")

    def _stop(self) -> None:
        self._waiting.clear()
        for trial in self._running:
            trial.stopping.stop()

    def _kill(self) -> None:
        for trial in self._running:
            trial.kill()


def _write(folder: Path, title: str, kernel: str, done: Sequence[Tried]) -> None:
    date = time.strftime("%Y-%m-%d %H:%M")
    about = {"model": title, "kernel": kernel, "version": __version__, "date": date}
    text = msgspec.json.encode(
        {**about, "attempts": [tried.attempt for tried in done]}, enc_hook=in_english
    )
    (folder / "results.json").write_bytes(msgspec.json.format(text, indent=1) + b"\n")
    (folder / "index.md").write_text(page(f"{title}, {date}", done), encoding="utf-8")
    for tried in done:
        file = folder / f"{tried.attempt.task}-{tried.attempt.run}.ipynb"
        file.write_text(json.dumps(tried.notebook, indent=1), encoding="utf-8")


def _say(words: str) -> None:
    print(visible_line(words), file=sys.stderr, flush=True)
