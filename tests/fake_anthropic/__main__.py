"""The fake as a process, for tests in a browser and for the benchmark.

    python -m tests.fake_anthropic --port 8100 [--scenario growth] [--first 0.5] [--delay 0.01]

Without ``--scenario`` the person's message chooses, by ``#name``; a message that names none
is echoed. It is controlled on the same port, with JSON:

    GET  /                  {"ok": true}
    GET  /control/state     {"requests": [...], "violations": [...], "connections": n}
    POST /control/scenario  {"name": "plot"}     for every message; "" to choose by #name
    POST /control/speed     {"first": 0.5}       also delay, chunk, split; the rest full speed
    POST /control/reset     recorded requests, scenario and speed as at the start
"""

from __future__ import annotations

import argparse
import asyncio
import signal
from collections.abc import Mapping
from typing import Any

from .scenarios import SCENARIOS
from .scripts import Script, by_words, echo
from .server import FakeAnthropic
from .turns import Speed
from .wire import Exchange


class Control:
    """The routes by which a test looks at the fake and changes what it does."""

    def __init__(self, scenario: str, speed: Speed, port: int, check: bool) -> None:
        self._scenario = scenario
        self._speed = speed
        self.api = FakeAnthropic(
            named(scenario),
            speed=speed,
            port=port,
            check=check,
            keyless=True,
            routes={
                "GET /": lambda _: {"ok": True},
                "GET /control/state": self.state,
                "POST /control/scenario": self.scenario,
                "POST /control/speed": self.speed,
                "POST /control/reset": self.reset,
            },
        )

    def state(self, _: Exchange) -> Mapping[str, Any]:
        return {
            "requests": [exchange.as_json() for exchange in self.api.requests],
            "violations": self.api.violations,
            "connections": self.api.connections,
        }

    def scenario(self, exchange: Exchange) -> Mapping[str, Any]:
        self.api.play(named(exchange.body["name"]))
        return {}

    def speed(self, exchange: Exchange) -> Mapping[str, Any]:
        self.api.speed = Speed(**exchange.body)
        return {}

    def reset(self, _: Exchange) -> Mapping[str, Any]:
        self.api.forget()
        self.api.play(named(self._scenario))
        self.api.speed = self._speed
        return {}


def named(scenario: str) -> Script:
    return SCENARIOS[scenario] if scenario else by_words(SCENARIOS, otherwise=echo)


async def serve(control: Control) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with control.api as api:
        print(f"fake Messages API at {api.url}", flush=True)
        await stopped.wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fake_anthropic")
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--scenario", default="", choices=["", *SCENARIOS])
    parser.add_argument("--first", type=float, default=0.0, help="seconds before an answer")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds after each delta")
    parser.add_argument("--no-checks", action="store_true")
    options = parser.parse_args()
    speed = Speed(first=options.first, delay=options.delay)
    asyncio.run(serve(Control(options.scenario, speed, options.port, not options.no_checks)))


if __name__ == "__main__":
    main()
