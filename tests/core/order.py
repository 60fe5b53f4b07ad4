"""What must be so after every turn, however the model, the person and the world behaved."""

from __future__ import annotations

import msgspec

from jupyter_codeinterp.models.anthropic.messages import request_body
from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic.checks import problems
from tests.fake_anthropic.history import History
from tests.scripted import Bench


def disorder(bench: Bench) -> list[str]:
    typed, cells = bench.document.typed, bench.document.notebook["cells"]
    mine = [cell["source"] == typed.get(cell["id"]) != "" for cell in cells]
    drafts = [c["source"] for c, own in zip(cells, mine, strict=True) if is_draft(c) and not own]
    left = [f"a draft is left: {source}" for source in drafts]
    return [*request_problems(bench), *open_ends(bench), *left]


def is_draft(cell: dict[str, object]) -> bool:
    return cell["cell_type"] == "raw"


def request_problems(bench: Bench) -> list[str]:
    """What the API would refuse: results that answer no call, rewritten history, …"""
    history = History()
    found: list[str] = []
    for request, reply in zip(bench.model.requests, bench.model.replies, strict=True):
        wire = msgspec.to_builtins(request_body(request, 1_000))
        body = {**wire, "stream": True}
        found += [*problems(body), *history.problems(body)]
        given = history.begin(body)
        if reply is not None:
            given.content = list(msgspec.to_builtins(reply.message.content))
            given.paused = reply.stop_reason == "pause_turn"
    # A script's thinking is not signed by the fake.
    return [words for words in found if "Invalid `signature`" not in words]


def open_ends(bench: Bench) -> list[str]:
    """Cards and turns that have begun and not ended, or ended twice."""
    cards: dict[str, int] = {}
    step: list[str] = []
    turns = 0
    for event in bench.events:
        if isinstance(event, e.TurnStarted):
            turns += 1
        elif isinstance(event, e.TurnEnded):
            turns -= 1
        elif isinstance(event, e.StepStarted):
            step = []
        elif isinstance(event, e.ToolStarted):
            cards[event.call_id] = 0
            step.append(event.call_id)
        elif isinstance(event, e.StepDiscarded):
            for call_id in step:
                del cards[call_id]
        elif isinstance(event, e.ToolDone):
            cards[event.call_id] += 1
    found = [f"card {call_id} ended {n} times" for call_id, n in cards.items() if n != 1]
    return [*found, *(["a turn has no end"] if turns else [])]
