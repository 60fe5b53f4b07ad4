"""A faithful fake of Anthropic's Messages API: real HTTP, real server-sent events, every
fault on demand, and a check of each request.

turns.py      what it answers          scripts.py    what decides on the answer
server.py     the server               scenarios.py  conversations, chosen by ``#name``
checks.py, history.py, signing.py      what it refuses
frames.py     turns as events          request.py    a request as scripts see it
wire.py       HTTP, byte by byte       running.py    ``async def`` tests
__main__.py   as a process, with ``/control/…`` for tests in a browser
"""

from .request import Request
from .running import on_loop
from .scripts import Script, attempts, by_words, echo, in_order, scenario
from .server import FakeAnthropic
from .turns import (
    Answer,
    Cut,
    HttpError,
    RedactedBlock,
    Speed,
    Step,
    Turn,
    answer,
    bad_request,
    call,
    edit_cell,
    forbidden,
    overloaded,
    own_spend_limited,
    prompt_too_long,
    rate_limited,
    raw_call,
    raw_events,
    run_cell,
    server_error,
    spend_limited,
    text,
    thinking,
    unknown_model,
    wrong_key,
)
from .wire import Exchange

__all__ = [
    "Answer",
    "Cut",
    "Exchange",
    "FakeAnthropic",
    "HttpError",
    "RedactedBlock",
    "Request",
    "Script",
    "Speed",
    "Step",
    "Turn",
    "answer",
    "attempts",
    "bad_request",
    "by_words",
    "call",
    "echo",
    "edit_cell",
    "forbidden",
    "in_order",
    "on_loop",
    "overloaded",
    "own_spend_limited",
    "prompt_too_long",
    "rate_limited",
    "raw_call",
    "raw_events",
    "run_cell",
    "scenario",
    "server_error",
    "spend_limited",
    "text",
    "thinking",
    "unknown_model",
    "wrong_key",
]
