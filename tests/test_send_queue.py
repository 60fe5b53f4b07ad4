"""One window's frames while its socket takes nothing: what becomes of them, and in which
order they arrive when it does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeinterp.base.sentences import from_journal
from jupyter_codeinterp.server.socket import send_queue
from jupyter_codeinterp.server.socket import send_queue as send_queues
from jupyter_codeinterp.server.socket.send_queue import SendQueue
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire.ops import BeginRun, FinishRun, Op, Restore, SetSource, digest
from tests.fake_anthropic import on_loop

_decoder = msgspec.json.Decoder(c.ServerFrame, dec_hook=from_journal)


class Peer:
    """The other end of a socket: it takes a message whenever its gate is open."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.given_up: list[str] = []
        self.left = asyncio.Event()
        self.asked = asyncio.Event()
        self._all = asyncio.Event()
        self._gate = asyncio.Event()
        self.send_queue = SendQueue(self._write, self._give_up)

    async def _write(self, message: bytes) -> None:
        self.asked.set()
        await self._gate.wait()
        self.messages.append(message)
        if self._read()[-1] == reply(-1):
            self._all.set()

    def _give_up(self, reason: str) -> None:
        self.given_up.append(reason)
        self.left.set()

    async def stop_taking(self) -> None:
        """The first message is on its way and not taken: from now on all others wait."""
        self.send_queue.post(reply(0))
        await self.asked.wait()

    async def frames(self) -> list[Any]:
        """All that comes once it takes something again, but for the first."""
        self.send_queue.post(reply(-1))
        self._gate.set()
        await self._all.wait()
        self.send_queue.close()
        return self._read()[1:-1]

    def _read(self) -> list[Any]:
        return [_decoder.decode(line) for data in self.messages for line in data.split(b"\n")]


def reply(number: int, **result: Any) -> c.Reply:
    return c.Reply(number, result)


def op(change: Op) -> c.OpFrame:
    return c.OpFrame("n.ipynb", 1, "s", 1, change)


def outputs(start: int, *texts: str, run: str = "r1", epoch: int = 1) -> c.OutputsFrame:
    shown = tuple({"output_type": "stream", "name": "stdout", "text": text} for text in texts)
    return c.OutputsFrame("n.ipynb", epoch, "c1", run, start, shown)


def code(start: int, text: str, draft: str = "d1") -> c.StreamFrame:
    return c.StreamFrame("n.ipynb", 1, draft, "c1", "insert", start, text)


def display(number: int, which: str = "x") -> c.DisplayFrame:
    return c.DisplayFrame("n.ipynb", 1, which, {"text/plain": str(number)}, {})


async def arrived(frames: Sequence[Any]) -> list[Any]:
    """What comes of frames that were posted while nothing was taken."""
    peer = Peer()
    await peer.stop_taking()
    for frame in frames:
        peer.send_queue.post(frame)
    return await peer.frames()


@on_loop
async def test_frames_come_in_their_order_several_a_message() -> None:
    peer = Peer()
    await peer.stop_taking()
    for number in range(1, 100):
        peer.send_queue.post(reply(number))
    assert await peer.frames() == [reply(number) for number in range(1, 100)]
    assert len(peer.messages) == 2


@on_loop
async def test_a_message_is_not_filled_without_end() -> None:
    peer = Peer()
    await peer.stop_taking()
    for number in range(1, 11):
        peer.send_queue.post(reply(number, long="x" * 30_000))
    assert len(await peer.frames()) == 10
    assert max(map(len, peer.messages)) < send_queues.MESSAGE + 40_000


@on_loop
async def test_outputs_of_a_run_wait_in_one_frame() -> None:
    begin = op(BeginRun("c1", digest("1"), "r1"))
    frames = [begin, outputs(0, "a"), outputs(1, "b", "c"), reply(1), outputs(2, "C", "d")]
    assert await arrived(frames) == [begin, outputs(0, "a", "b", "C", "d"), reply(1)]


@on_loop
async def test_outputs_never_overtake_the_beginning_of_their_run() -> None:
    begin = op(BeginRun("c1", digest("2"), "r2"))
    frames = [outputs(0, "old"), begin, outputs(0, "new", run="r2"), outputs(1, "x", run="r2")]
    assert await arrived(frames) == [outputs(0, "old"), begin, outputs(0, "new", "x", run="r2")]


@on_loop
async def test_the_end_of_a_run_needs_no_outputs_before_it() -> None:
    finish = op(FinishRun("c1", "r1", (), 1))
    other = outputs(0, "other", run="r2")
    again = outputs(0, "a", epoch=2)
    assert await arrived([outputs(0, "a"), other, again, finish]) == [other, finish]


@on_loop
async def test_outputs_of_another_lease_are_not_mixed() -> None:
    frames = [outputs(0, "a"), outputs(0, "a", "b", epoch=2), outputs(2, "c", epoch=2)]
    assert await arrived(frames) == [outputs(0, "a"), outputs(0, "a", "b", "c", epoch=2)]


@on_loop
async def test_code_of_a_draft_is_joined() -> None:
    frames = [code(0, "x = "), code(0, "y", "d2"), code(4, '"🙂"'), code(8, "\n")]
    assert await arrived(frames) == [code(0, 'x = "🙂"\n'), code(0, "y", "d2")]


@on_loop
async def test_code_is_not_joined_across_an_op_or_a_hole() -> None:
    written = op(SetSource("c1", "x", "x"))
    frames = [code(0, "a"), written, code(1, "b"), code(2, "c"), code(9, "?")]
    assert await arrived(frames) == [code(0, "a"), written, code(1, "bc"), code(9, "?")]


@on_loop
async def test_the_newest_data_of_a_display_goes_last() -> None:
    frames = [display(1), display(1, "y"), outputs(0, "shows x"), display(2), display(3)]
    assert await arrived(frames) == [display(1, "y"), outputs(0, "shows x"), display(3)]


@on_loop
async def test_what_is_on_its_way_takes_nothing_in() -> None:
    peer = Peer()
    peer.send_queue.post(outputs(0, "a"))
    await peer.asked.wait()
    peer.send_queue.post(outputs(1, "b"))
    peer.send_queue.post(outputs(2, "c"))
    await peer.frames()
    assert [frame.start for frame in peer._read()[:-1]] == [0, 1]
    assert len(peer._read()[1].outputs) == 2


class States(msgspec.Struct):
    """States of a list of outputs, each told by what changed from ``start`` on."""

    frames: list[c.OutputsFrame]
    last: list[Any]


@st.composite
def states(draw: st.DrawFn) -> States:
    shown: list[str] = []
    frames: list[c.OutputsFrame] = []
    for _ in range(draw(st.integers(1, 12))):
        start = draw(st.integers(0, len(shown)))
        new = draw(st.lists(st.text("abc", max_size=2), max_size=4))
        shown[start:] = new
        frames.append(outputs(start, *new))
    return States(frames, list(outputs(0, *shown).outputs))


@given(states(), st.data())
def test_joined_or_not_the_outputs_end_up_the_same(told: States, data: st.DataObject) -> None:
    """Whatever the window takes in between."""

    @on_loop
    async def check() -> None:
        cut = data.draw(st.integers(0, len(told.frames)))
        shown: list[Any] = []
        for part in (told.frames[:cut], told.frames[cut:]):
            for frame in await arrived(part):
                shown[frame.start :] = frame.outputs
        assert shown == told.last

    check()


# --- room, and the end of patience ---------------------------------------------------


@on_loop
async def test_there_is_room_until_much_waits() -> None:
    peer = Peer()
    await peer.stop_taking()
    await peer.send_queue.room()
    peer.send_queue.post(reply(1, long="x" * send_queues.ROOM))
    reader = asyncio.ensure_future(peer.send_queue.room())
    await asyncio.sleep(0)
    assert not reader.done()
    await peer.frames()
    await reader


async def gone(peer: Peer, waiting: int) -> None:
    await peer.stop_taking()
    peer.send_queue.post(reply(1, long="x" * waiting))
    await peer.left.wait()
    assert peer.given_up == ["The window stopped reading."]
    # Nobody is told any more, and nothing grows.
    peer.send_queue.post(reply(2))
    assert not peer.send_queue._waiting


@on_loop
async def test_a_window_that_takes_nothing_is_given_up() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(send_queues, "TIMEOUT", 0.05)
        patch.setattr(send_queues, "POLL", 0.01)
        await gone(Peer(), 10)


@on_loop
async def test_it_is_given_up_sooner_when_much_waits() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(send_queues, "OVERLOAD_TIMEOUT", 0.05)
        patch.setattr(send_queues, "OVERLOAD", 1000)
        patch.setattr(send_queues, "POLL", 0.01)
        await gone(Peer(), 2000)


@on_loop
async def test_a_large_message_has_more_time() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(send_queues, "TIMEOUT", 0.0)
        patch.setattr(send_queues, "POLL", 0.01)
        peer = Peer()
        peer.send_queue.post(reply(1, long="x" * send_queues.MIN_RATE * 60))
        await peer.asked.wait()
        await asyncio.wait({asyncio.ensure_future(peer.left.wait())}, timeout=0.1)
        assert not peer.given_up
        await peer.frames()


LARGE = "x" * (send_queue.AT_ONCE // 2)
MANY = tuple(
    {"output_type": "stream", "name": "stdout", "text": f'"outputs":[]{LARGE}'} for _ in "123"
)
LARGE_FRAMES: list[c.ServerFrame] = [
    op(FinishRun("c1", "r0", MANY, 1)),
    op(Restore("c1", {"id": "c1", "cell_type": "code", "metadata": {}, "outputs": list(MANY)})),
    c.OutputsFrame("n.ipynb", 1, "c1", "r1", 0, MANY),
    c.DisplayFrame("n.ipynb", 1, "x", {"text/plain": LARGE * 3}, {}),
]


@pytest.mark.parametrize("large", LARGE_FRAMES, ids=lambda frame: type(frame).__name__)
@on_loop
async def test_large_outputs_are_encoded_in_a_thread_and_keep_their_place(large: Any) -> None:
    threads: dict[type, set[threading.Thread]] = {}
    encode = send_queue.encode

    def noted(frame: c.ServerFrame) -> bytes:
        data = encode(frame)
        threads.setdefault(type(frame), set()).add(threading.current_thread())
        return data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(send_queue, "encode", noted)
        patch.setattr(send_queues, "encode", noted)
        assert await arrived([reply(1), large, reply(2)]) == [reply(1), large, reply(2)]
    main = threading.main_thread()
    assert threads[type(large)].isdisjoint({main})
    assert threads[c.Reply] == {main}


@on_loop
async def test_large_outputs_that_wait_count_for_patience() -> None:
    peer = Peer()
    await peer.stop_taking()
    for _ in range(send_queues.ROOM // (3 * len(LARGE)) + 1):
        peer.send_queue.post(LARGE_FRAMES[0])
    room = asyncio.ensure_future(peer.send_queue.room())
    await asyncio.sleep(0)
    assert not room.done()
    await peer.frames()
    await room


@on_loop
async def test_a_socket_that_fails_is_given_up(caplog: pytest.LogCaptureFixture) -> None:
    left = asyncio.Event()

    async def fails(message: bytes) -> None:
        raise OSError("broken")

    SendQueue(fails, lambda reason: left.set()).post(reply(1))
    await left.wait()
    assert "Could not send a message" in caplog.text
