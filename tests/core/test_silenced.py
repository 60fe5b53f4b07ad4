"""Findings that a person has silenced, and protected variables."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.journal.transcript import FACTS
from jupyter_codeinterp.wire import events as e
from tests.core.test_checks import DISCARDED as NOT_KEPT
from tests.core.test_hooks import having
from tests.scripted import Bench, run, say

Benches = Callable[..., Bench]
DISCARDED = "names = ['b', 'a']\nsorted(names)\nprint(names)"
LOWER = f"# A line above, and other blanks.\n{DISCARDED.replace('sorted(names)', 'sorted( names)')}"
OTHER = "names = ['b', 'a']\nsorted(names, reverse=True)\nprint(names)"


@pytest.fixture
def bench(bench: Benches) -> Benches:
    """Each test has a notebook of its own, since its path is the key of silenced findings."""
    path = f"{uuid.uuid4().hex}.ipynb"

    def make(*script: Any) -> Bench:
        made = bench(*script, hooks=having(NOT_KEPT))
        made.document.path = path
        return made

    return make


def sentences(bench: Bench) -> list[list[str]]:
    return [[one.sentence for one in done.findings] for done in bench.of(e.ToolDone)]


# --- silenced --------------------------------------------------------------------------


async def test_neither_person_nor_model_hears_of_a_silenced_finding_again(bench: Benches) -> None:
    b = bench(run(DISCARDED), say("."), run(DISCARDED), say("."), run(DISCARDED), say("."))
    await b.turn()
    key = b.of(e.ToolDone)[0].findings[0].key
    assert b.session.silence(key, True, 7) == "Result not kept"
    await b.turn()
    assert sentences(b)[1] == [] and FACTS not in b.sent_results[1]
    b.session.silence(key, False, 7)
    await b.turn()
    assert sentences(b)[2] == sentences(b)[0] and FACTS in b.sent_results[2]
    said = [e.FindingSilenced(key, True, 7), e.FindingSilenced(key, False, 7)]
    assert b.of(e.FindingSilenced) == said


async def test_a_draft_leaves_it_out_too(bench: Benches) -> None:
    b = bench(run(DISCARDED), say("."), run(DISCARDED), say("."))
    await b.turn()
    b.session.silence(b.of(e.ToolDone)[0].findings[0].key, True)
    b.send()
    draft = await b.draft()
    assert draft.notices == ()
    b.decide(draft)
    await b.ended(2)


@pytest.mark.parametrize(("code", "told"), [(DISCARDED, 0), (LOWER, 0), (OTHER, 1)])
async def test_the_key_is_the_check_and_its_code(bench: Benches, code: str, told: int) -> None:
    b = bench(run(DISCARDED), say("."), run(code), say("."))
    await b.turn()
    b.session.silence(b.of(e.ToolDone)[0].findings[0].key, True)
    path = b.document.path
    b.restart_server()
    b.document.path = path
    await b.turn()
    assert len(sentences(b)[1]) == told


async def test_a_key_that_no_card_has_is_refused(bench: Benches) -> None:
    b = bench(run(DISCARDED), say("."))
    await b.turn()
    with pytest.raises(CommandError, match="no such finding"):
        b.session.silence("0123456789abcdef", True)
    assert b.of(e.FindingSilenced) == []
    assert b.store.silenced(b.document.path) == frozenset()


# --- protected -------------------------------------------------------------------------


def protecting(bench: Bench, *names: object) -> Bench:
    bench.document.notebook["metadata"]["codeinterp_protect"] = list(names)
    return bench


async def test_code_that_changes_a_protected_variable_asks_in_auto(bench: Benches) -> None:
    b = protecting(bench(run("other = 2\ntotal = 1"), say(".")), "total", 7, "a b")
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.notices == ("Changes the protected `total`.",)
    assert draft.can_run_all is False
    b.decide(draft)
    await b.ended()
    assert sentences(b) == [[]]


async def test_letting_all_of_a_turn_run_does_not_cover_it(bench: Benches) -> None:
    b = protecting(bench(run("a = 1"), run("total = 1"), say(".")), "total")
    b.send()
    b.decide(await b.draft(), run_all=True)
    second = await b.draft(2)
    assert second.source == "total = 1"
    b.decide(second, "reject")
    await b.ended()


async def test_code_that_leaves_it_alone_does_not_ask(bench: Benches) -> None:
    b = protecting(bench(run("print(total := 1)"), run("b = 1"), say(".")), "b2")
    await b.turn()
    assert b.of(e.DraftWaiting) == []


async def test_a_change_that_no_code_showed_is_a_finding(bench: Benches) -> None:
    setup, hidden = "rows = [1, 2]", "exec('rows.append(3)')"
    b = protecting(bench(run(setup), say("."), run(hidden), say(".")), "rows")
    b.send()
    b.decide(await b.draft())
    await b.ended()
    assert sentences(b) == [[]]
    await b.turn()
    assert len(b.of(e.DraftWaiting)) == 1
    (told,) = sentences(b)[1]
    assert told == "The protected `rows` was changed: list of 2 before, list of 3 now."
    assert told in b.results[1]
