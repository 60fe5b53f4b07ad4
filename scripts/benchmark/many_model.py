"""A fake model for many conversations at once, in a process of its own. The text of a delta is its
time of sending. Prints its address; ends with its input.

python -m scripts.benchmark.many_model SECONDS
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from typing import Any

from tests.fake_anthropic import FakeAnthropic, Request, Speed, answer
from tests.fake_anthropic.turns import RawEvents, Turn

DELTAS = 40
"""Deltas per second in each conversation."""
CLOCK = 1 << 16
"""Milliseconds after which the time stamps restart: they have four hexadecimal digits."""


def now() -> int:
    """Milliseconds by a clock that all processes of the machine share."""
    return int(time.monotonic() * 1000) % CLOCK


def deltas(count: int) -> Iterator[dict[str, Any]]:
    block = {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    for _ in range(count):
        delta = {"type": "text_delta", "text": f"{now():04x}"}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}


async def _main(seconds: float) -> None:
    def script(request: Request) -> Turn:
        return answer(RawEvents(deltas(int(seconds * DELTAS))))

    async with FakeAnthropic(script, speed=Speed(delay=1 / DELTAS), check=False) as model:
        print(model.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main(float(sys.argv[1])))
