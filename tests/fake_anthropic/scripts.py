"""Scripts: what decides on the answer to each request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from .request import Request
from .turns import Answer, Step, Turn, answer, bad_request, text

Script = Callable[[Request], Answer]


def in_order(steps: Iterable[Step]) -> Script:
    """One step after the other, whatever is asked. One more request is an error."""
    rest: Iterator[Step] = iter(steps)

    def script(request: Request) -> Answer:
        step = next(rest, None)
        return (
            bad_request("The script has no more turns.") if step is None else _take(step, request)
        )

    return script


def scenario(*steps: Step) -> Script:
    """The step is chosen by how many answers there are since the person last spoke; so
    several conversations may play it at once, and again and again."""

    def script(request: Request) -> Answer:
        if request.step >= len(steps):
            return answer(text("There is nothing left to do."))
        return _take(steps[request.step], request)

    return script


def attempts(*steps: Step) -> Script:
    """The first step for the first time that a body comes, the second for the second, …;
    the last for ever."""

    def script(request: Request) -> Answer:
        return _take(steps[min(request.attempt, len(steps)) - 1], request)

    return script


def by_words(scripts: Mapping[str, Script], otherwise: Script) -> Script:
    """The script whose name stands as ``#name`` in what the person said last; if none does,
    in what they said before; else ``otherwise``."""

    def script(request: Request) -> Answer:
        for words in reversed(request.said):
            named = [name for name in scripts if f"#{name}" in words]
            if named:
                return scripts[max(named, key=len)](request)
        return otherwise(request)

    return script


def echo(request: Request) -> Turn:
    return answer(text(f"You said: {request.said[-1]}"))


def _take(step: Step, request: Request) -> Answer:
    return step(request) if callable(step) else step
