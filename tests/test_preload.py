"""What imports make is taken out of garbage collection, once."""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections.abc import Iterator

import pytest

from jupyter_codeinterp.base.preload import _Frozen, freeze


@pytest.fixture
def new_module(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(_Frozen, "modules", len(sys.modules))
    sys.modules["codeinterp_new"] = types.ModuleType("codeinterp_new")
    yield
    del sys.modules["codeinterp_new"]
    gc.unfreeze()


@pytest.mark.usefixtures("new_module")
def test_new_modules_are_frozen_once() -> None:
    freeze()
    frozen = gc.get_freeze_count()
    assert frozen > 0
    gc.unfreeze()
    freeze()
    assert gc.get_freeze_count() == 0, "nothing was imported since"


class Circle:
    def __init__(self) -> None:
        self.itself = self


@pytest.mark.usefixtures("new_module")
def test_what_is_frozen_does_not_put_off_collecting_the_rest() -> None:
    gc.disable()
    imported: list[object] = [[] for _ in range(2_000_000)]
    gc.enable()
    freeze()
    circle = Circle()
    gone = weakref.ref(circle)
    gc.collect(1)
    del circle
    used: list[object] = [[] for _ in range(200_000)]
    assert gone() is None, "it is garbage, and much was made since"
    assert len(imported) > len(used)


@pytest.mark.usefixtures("new_module")
def test_garbage_is_freed_before_the_rest_is_frozen() -> None:
    gc.disable()
    try:
        circle = Circle()
        gone = weakref.ref(circle)
        del circle
        freeze()
    finally:
        gc.enable()
    assert gone() is None
