"""The files that a turn has made are told at its end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_codeinterp.run.turn.files import FolderScan
from jupyter_codeinterp.wire import events as e
from tests.scripted import Bench, MemoryPlace, run, say

Benches = Callable[..., Bench]


class Around:
    """What the place of a test sees, one look after the other."""

    def __init__(self, *looks: FolderScan) -> None:
        self._looks = list(looks)

    async def __call__(self, place: MemoryPlace) -> FolderScan | None:
        return self._looks.pop(0) if self._looks else None


@pytest.mark.parametrize(("answers", "told"), [((run("1"), say("1.")), 1), ((say("No."),), 0)])
async def test_the_end_of_a_turn_that_has_run_something_tells_of_them(
    bench: Benches, monkeypatch: pytest.MonkeyPatch, answers: tuple[object, ...], told: int
) -> None:
    looks = Around(FolderScan("", {}), FolderScan("", {"out.csv": (3, 1)}))
    monkeypatch.setattr(MemoryPlace, "look_around", lambda place: looks(place))
    b = bench(*answers)
    ended = await b.turn()
    assert ended.files == (e.MadeFile("out.csv", 3, True),)[:told]


async def test_a_look_that_fails_costs_the_turn_nothing(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(place: MemoryPlace) -> FolderScan | None:
        raise PermissionError

    monkeypatch.setattr(MemoryPlace, "look_around", fails)
    ended = await bench(run("1"), say("1.")).turn()
    assert (ended.stop_reason, ended.files) == ("end_turn", ())
