"""The journal's files cut off anywhere: what was in them is there, or a person is told.

pytest tests/test_journal_cuts.py --cuts 5000      # a longer run
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.events import (
    Event,
    StepStarted,
    TextDelta,
    TextDone,
    TurnEnded,
    TurnStarted,
)
from jupyter_codeinterp.wire.messages import Message, Text, assistant, user
from jupyter_codeinterp.wire.ops import Delete
from jupyter_codeinterp.wire.stores import StoredOp
from tests.kept_outputs import put_outputs

FILES = ("", "-wal")

Told = tuple[list[tuple[int, Event]], tuple[Message, ...], list[StoredOp]]


async def a_turn(store: SqliteStore, session_id: str, turn: int, size: int) -> None:
    """As a session writes one, with its end on the disk."""
    seq = store.last_seq(session_id)

    def add(event: Event) -> None:
        nonlocal seq
        seq += 1
        store.append_events(session_id, [(seq, event)])

    add(TurnStarted(turn, "What is it? " * size, "auto", "m"))
    add(StepStarted(turn))
    store.append_messages(session_id, (user(Text("What is it?")),), 1)
    for part in range(size):
        add(TextDelta(0, f"part {part} "))
    store.append_op(session_id, StoredOp(2 * turn, turn, Delete(f"c{turn}", "x" * size)))
    put_outputs(store, session_id, f"c{turn}", ({"text": "o" * size * 900},))
    add(TextDone(0, "It is this. " * size))
    store.append_messages(session_id, (assistant(Text("It is this. " * size)),), 1)
    add(TurnEnded(turn, "end_turn"))
    await store.settle()


async def write(path: Path, chance: random.Random) -> dict[str, Told]:
    """Conversations of a server that was killed: some in the file, some in its log."""
    store = SqliteStore(path / "open" / "journal")
    for number in range(3):
        store.create(SessionInfo(f"s{number}", "a.ipynb", "", "m", "auto", False, 0.0, 0.0))
    turns = [f"s{number}" for number in range(3) for _ in range(6)]
    chance.shuffle(turns)
    done: dict[str, int] = {}
    for number, session_id in enumerate(turns):
        done[session_id] = done.get(session_id, 0) + 1
        await a_turn(store, session_id, done[session_id], chance.randrange(1, 40))
        if number == len(turns) // 2:
            await store.tidy()
    for end in FILES:
        shutil.copy(path / "open" / f"journal{end}", path / f"journal{end}")
    told = read(store)
    store.close()
    return told


def read(store: SqliteStore) -> dict[str, Told]:
    ids = [info.session_id for info in store.list()]
    return {i: (store.events(i), store.messages(i)[1], store.ops(i)) for i in ids}


def complete(told: dict[str, Told]) -> set[tuple[str, int]]:
    return {
        (session_id, event.turn)
        for session_id, (events, _, _) in told.items()
        for _, event in events
        if isinstance(event, TurnEnded)
    }


def opened(path: Path, whole: dict[str, Told]) -> tuple[int, bool]:
    """How many turns are gone, and whether the file was set aside. Fails if
    turns that are left have changed, or if nobody learns of a file that was set aside."""
    store = SqliteStore(path)
    try:
        left = read(store)
        missing = complete(whole) - complete(left)
        for session_id, (events, messages, ops) in left.items():
            all_events, all_messages, all_ops = whole[session_id]
            # A text of which only parts had come has them; later they are put together.
            kept = [x for x in events if not isinstance(x[1], TextDelta)]
            assert kept == all_events[: len(kept)]
            assert messages == all_messages[: len(messages)]
            assert ops == all_ops[: len(ops)]
            # A turn that has its end has all of its messages, too.
            ends = sum(isinstance(event, TurnEnded) for _, event in events)
            assert len(messages) >= 2 * ends and len(ops) >= ends
        aside = bool(list(path.parent.glob("journal.damaged-*")))
        assert aside == ("renamed to" in store.warning)
        store.create(SessionInfo("new", "a.ipynb", "", "m", "auto", False, 0.0, 0.0))
        return len(missing), aside
    finally:
        store.close()


@pytest.fixture
def cuts(request: pytest.FixtureRequest) -> int:
    number: int = request.config.getoption("--cuts")
    return number


async def test_cut_at_any_byte(tmp_path: Path, cuts: int) -> None:
    chance = random.Random(20_261_121)
    whole = await write(tmp_path, chance)
    assert len(complete(whole)) == 18
    sizes = {end: len((tmp_path / f"journal{end}").read_bytes()) for end in FILES}
    assert sizes[""] > 50_000 and sizes["-wal"] > 50_000
    lost = aside = 0
    for number in range(cuts):
        folder = tmp_path / f"cut{number}"
        folder.mkdir()
        for end in FILES:
            shutil.copy(tmp_path / f"journal{end}", folder)
        end = chance.choice(("", "-wal"))
        length = chance.choice((0, 1, chance.randrange(sizes[end]), chance.randrange(sizes[end])))
        with (folder / f"journal{end}").open("r+b") as file:
            file.truncate(length)
        try:
            missing, was_set_aside = opened(folder / "journal", whole)
        except AssertionError as error:
            raise AssertionError(f"journal{end} cut to {length} bytes: {error}") from error
        lost += bool(missing)
        aside += was_set_aside
        shutil.rmtree(folder)
    assert lost > cuts / 4 and 0 < aside < lost, "the cuts did not do what they are for"


async def test_uncut_nothing_is_missing(tmp_path: Path) -> None:
    whole = await write(tmp_path, random.Random(1))
    assert opened(tmp_path / "journal", whole) == (0, False)


@pytest.mark.parametrize("gone", ["-wal", ""])
async def test_a_file_of_it_is_gone(tmp_path: Path, gone: str) -> None:
    whole = await write(tmp_path, random.Random(2))
    (tmp_path / f"journal{gone}").unlink()
    missing, _ = opened(tmp_path / "journal", whole)
    assert missing > 0
