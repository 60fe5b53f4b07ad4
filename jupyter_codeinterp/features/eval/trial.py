"""One run of a task, with a copy of its folder, a kernel and a conversation, and its result."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Union

import msgspec
from traitlets.config import Config

from ...app.settings import CodeInterpSettings
from ...base.errors import CodeInterpError
from ...cli.commands.turn import TerminalConversation, to_the_end
from ...cli.local.bench import LocalBench
from ...cli.local.problems import Problem
from ...cli.terminal.fronts import Front, Verdict, covers
from ...cli.terminal.stopping import Stopping
from ...journal.exports import markdown, pictures
from ...journal.transcript import AnswerText, Card, PastTurn, turns
from ...models.replay.model import ReplayModel, parse
from ...notebook.live.hand_over import IN_FILE
from ...run.approval.modes import HIGHEST
from ...wire import events as e
from ...wire.ports import Model
from .checking import TrialEnd, faults
from .tasks import FILE, Task

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
EMPTY: dict[str, Any] = {"cells": [], "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}


class Attempt(msgspec.Struct, frozen=True):
    """``problem``: why the task could not run; "" if it ran. ``not_found``: number of figures in
    the answers that no output has."""

    task: str
    run: int
    solved: bool = False
    faults: tuple[str, ...] = ()
    problem: str = ""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Union[e.Cost, None] = None
    seconds: float = 0.0
    failed_cells: int = 0
    not_found: int = 0
    answers: tuple[str, ...] = ()


class Tried(msgspec.Struct, frozen=True):
    """``transcript``: the conversation as Markdown. ``notebook``: at the end."""

    attempt: Attempt
    transcript: str
    notebook: dict[str, Any]


class Setup(msgspec.Struct, frozen=True):
    """Settings of all runs. ``kernel``: a kernelspec's name, "" for the notebook's own.
    ``recordings``: a folder of recordings that replace ``model``."""

    config: Config
    settings: CodeInterpSettings
    model: str
    kernel: str
    recordings: Union[Path, None]


class _Bench(LocalBench):
    """Has its journal beside the copy, outside of the person's list of conversations."""

    def __init__(self, setup: Setup, root: Path, played: Model | None) -> None:
        self._beside = root.with_name("sessions.db")
        self._played = played
        super().__init__(setup.config, setup.settings, root)

    def _journal(self, settings: CodeInterpSettings) -> Path:
        return self._beside

    async def _model(self, name: str) -> Model:
        return self._played or await super()._model(name)

    async def transcript(self, path: str) -> str:
        """The notebook's conversation as Markdown."""
        store = self.manager.store
        info = store.list(path)[0]
        events = [event for _, event in store.events(info.session_id)]
        return markdown(info, events, await pictures(store, info.session_id))

    async def described(self, path: str, names: tuple[str, ...]) -> list[dict[str, Any]]:
        """Variables of the notebook's kernel."""
        return (await self.kernel_at(path).variables(names) if names else None) or []


class _Front(Front):
    """Answers for an absent person. Agrees to edits, because the cells are copies, but not to
    packages, other kernels or hidden code."""

    def __init__(self, bench: LocalBench) -> None:
        super().__init__("edits")
        self._scrub = bench.scrub
        self.events: list[e.Event] = []

    def show(self, event: e.Event, raw: bytes) -> None:
        is_usual = isinstance(event, e.Note) and event.text == IN_FILE
        if not is_usual and not isinstance(event, (e.TextDelta, e.ThinkingDelta)):
            self.events.append(e.read_event(self._scrub(raw.decode())))

    async def decide(self, draft: e.Draft) -> Verdict:
        agrees = covers(self.alone, draft)
        return Verdict("run" if agrees else "reject", draft.source, nobody=not agrees)


class Trial:
    """``run`` counts from 1."""

    def __init__(self, task: Task, run: int, setup: Setup) -> None:
        self._task = task
        self._run = run
        self._setup = setup
        self._events: list[e.Event] = []
        self._notebook = EMPTY
        self._transcript = ""
        self.stopping = Stopping()
        self.kill: Callable[[], None] = lambda: None

    async def tried(self) -> Tried:
        """Run the task. Errors of the task, model or kernel go into the result."""
        began = time.monotonic()
        place = Path(tempfile.mkdtemp(prefix="codeinterp-eval-"))
        outcome: dict[str, Any] = {}
        try:
            wrong = faults(self._task.spec, await self._in(place / "work"))
            outcome = {"faults": wrong, "solved": not wrong}
        except (Problem, CodeInterpError) as error:
            outcome = {"problem": str(error)}
        except (OSError, ValueError, LookupError) as error:
            outcome = {"problem": f"The task or its notebook is broken: {error!r}"}
        finally:
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
        found = turns(self._events)
        used = [event for event in self._events if isinstance(event, e.UsageChanged)][-1:]
        looked = [event for event in self._events if isinstance(event, e.FiguresFound)]
        attempt = Attempt(
            self._task.name,
            self._run,
            **outcome,
            requests=sum(isinstance(event, e.StepStarted) for event in self._events),
            input_tokens=sum(event.usage.total_input for event in used),
            output_tokens=sum(event.usage.output_tokens for event in used),
            cost=next((e.Cost(event.cost, event.local) for event in used), None),
            seconds=round(time.monotonic() - began, 1),
            failed_cells=sum(card.ran and card.status != "ok" for card in _cards(found)),
            not_found=sum(one.origin is None for event in looked for one in event.figures),
            answers=tuple(map(_answer, found)),
        )
        return Tried(attempt, self._transcript, self._notebook)

    async def _in(self, root: Path) -> TrialEnd:
        """Run the task in a copy at ``root``. Raises Problem, CodeInterpError, OSError, ValueError
        and LookupError."""
        spec, played, recordings = self._task.spec, None, self._setup.recordings
        if recordings is not None:
            steps = parse((recordings / f"{self._task.name}.jsonl").read_bytes())
            played = ReplayModel(steps, pace=0.0, always_ask=False)
        await asyncio.to_thread(shutil.copytree, self._task.folder, root, ignore=_left_out)
        file = root / spec.notebook
        if not file.exists():
            file.write_text(json.dumps(EMPTY), encoding="utf-8")
        before = json.loads(file.read_bytes())
        async with (bench := _Bench(self._setup, root, played)):
            conversation = TerminalConversation(bench, spec.notebook)
            front, self.kill = _Front(bench), conversation.leave
            self._events = front.events
            await bench.kernel_ready(spec.notebook, self._setup.kernel)
            left, stop_reason = list(spec.questions), "end_turn"
            while left and stop_reason == "end_turn" and not self.stopping.stopped:
                await conversation.send(left.pop(0), HIGHEST, self._setup.model, alone=front.alone)
                ended = await to_the_end(conversation, front, self.stopping)
                self._transcript = await bench.transcript(spec.notebook)
                if (stop_reason := ended.stop_reason) == "error":
                    raise CodeInterpError(ended.code, ended.message)
            described = await bench.described(spec.notebook, tuple(spec.variables))
        self._notebook = json.loads(file.read_bytes())
        found = turns(self._events)
        answers, ran = tuple(map(_answer, found)), any(card.ran for card in _cards(found))
        return TrialEnd(answers, before, self._notebook, root, described, ran, stop_reason)


def _left_out(folder: str, names: list[str]) -> set[str]:
    """Names that are not copied: the checks, and links, which may lead to the person's files."""
    hidden = (FILE, ".ipynb_checkpoints", "__pycache__", ".codeinterp")
    return {name for name in names if name in hidden or Path(folder, name).is_symlink()}


def _cards(found: list[PastTurn]) -> list[Card]:
    items = (item for turn in found for step in turn.steps for item in step)
    return [item for item in items if isinstance(item, Card)]


def _answer(turn: PastTurn) -> str:
    """The text of a turn's last step, or of the whole turn if that has none."""
    steps = [[one.text for one in step if isinstance(one, AnswerText)] for step in turn.steps]
    return "\n\n".join(steps[-1] or [text for step in steps for text in step])
