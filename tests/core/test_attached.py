"""Images and PDFs that a message names are shown to the model, as what their bytes say they are."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from PIL import Image as pillow

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.view import attached
from jupyter_codeinterp.view import references as r
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.events import Reference
from jupyter_codeinterp.wire.messages import PDF, Document, Image, Message, Text
from jupyter_codeinterp.wire.ports import ModelInfo
from tests.scripted import Bench, run, say

MakeBench = Callable[..., Bench]
PAPER = b"%PDF-1.7\n1 0 obj\n<< >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"
SEES = ModelInfo("m", "M", images=True, takes=tuple(attached.NAMES))


def picture(kind: str, size: tuple[int, int] = (7, 5), **options: Any) -> bytes:
    data = io.BytesIO()
    pillow.new("RGB", size, "navy").save(data, kind, **options)
    return data.getvalue()


def look(name: str, data: bytes | None, info: ModelInfo = SEES, **room: int) -> attached.SeenFile:
    return attached.see(name, name, data, info, attached.FileRoom(**{"images": 19, **room}))


def send(b: Bench, text: str, *names: str) -> None:
    references = tuple(Reference("file", name) for name in names)
    b.session.send(text, "review", "", references=references)


def shown(message: Message) -> list[Image | Document]:
    return [block for block in message.content if isinstance(block, (Image, Document))]


def knowing(b: Bench, info: ModelInfo) -> None:
    async def told(model: str) -> ModelInfo:
        return msgspec.structs.replace(info, id=model, context_window=200_000)

    b.model.info = told


# --- through a turn ----------------------------------------------------------------------


async def test_a_named_image_and_pdf_stand_before_the_words_in_their_order(
    bench: MakeBench,
) -> None:
    b = bench(run("1 + 1"), say("Done."))
    knowing(b, SEES)
    png = picture("PNG")
    b.beside.update({"plot.png": png, "paper.pdf": PAPER})
    send(b, "Look at these", "paper.pdf", "data.csv", "plot.png")
    b.decide(await b.draft())
    await b.ended()
    first, second = b.model.requests
    *before, paper, plot, words = first.messages[-1].content
    assert words == Text("Look at these")
    assert isinstance(paper, Document) and paper.title == "paper.pdf"
    assert base64.b64decode(paper.source.data) == PAPER
    assert isinstance(plot, Image) and plot.source.media_type == "image/png"
    assert base64.b64decode(plot.source.data) == png
    [named] = [one.text for one in before if isinstance(one, Text) and r.BEGINNING in one.text]
    assert "plot.png " in named and "PNG, shown below" in named
    assert "data.csv 120 B\n" in named, "of another file nothing but its size is told"
    assert second.messages[: len(first.messages)] == first.messages, "only ever appended to"
    assert b.of(e.Note) == []


async def test_it_is_in_the_journal_and_the_same_after_a_restart(bench: MakeBench) -> None:
    b = bench(say("First."), say("Second."))
    knowing(b, SEES)
    b.beside["plot.png"] = picture("PNG")
    send(b, "Look", "plot.png")
    await b.ended()
    before = b.model.requests[0].messages
    b.beside["plot.png"] = picture("PNG", (99, 99))
    b.restart_server()
    assert (b.session.log.talk.attached, b.session.log.talk.shown) == (1, len(picture("PNG")))
    b.send("And?")
    await b.ended(2)
    assert b.model.requests[1].messages[: len(before)] == before, "as it was when it was said"
    sent = b.store.request(b.info.session_id, 2)
    assert sent is not None
    assert [one["type"] for one in sent["messages"][0]["content"]].count("image") == 1


async def test_trying_again_sends_the_same_bytes(bench: MakeBench) -> None:
    b = bench(ModelError("overloaded", "Busy."), say("Done."))
    knowing(b, SEES)
    b.beside["plot.png"] = picture("PNG")
    send(b, "Look", "plot.png")
    assert (await b.ended()).retry
    b.beside.clear()
    b.session.retry()
    await b.ended(2)
    first, second = b.model.requests
    assert len(shown(second.messages[0])) == 1
    assert second.messages[0].content[: len(first.messages[0].content)] == first.messages[0].content


async def test_what_is_said_while_a_turn_runs_can_show_an_image(bench: MakeBench) -> None:
    b = bench(run("1 + 1"), say("Done."))
    knowing(b, SEES)
    b.beside["plot.png"] = picture("PNG")
    b.send("Add up")
    draft = await b.draft()
    send(b, "Like this", "plot.png")
    b.decide(draft)
    await b.ended()
    message = b.model.requests[1].messages[-1]
    assert len(shown(message)) == 1 and message.content[-1] == Text("Like this")


async def test_a_model_that_sees_no_images_gets_words_and_so_does_the_person(
    bench: MakeBench,
) -> None:
    b = bench(say("Done."))
    knowing(b, ModelInfo("blind", "Blind", images=False))
    b.beside.update({"plot.png": picture("PNG"), "paper.pdf": PAPER})
    send(b, "Look", "plot.png", "paper.pdf")
    assert (await b.ended()).stop_reason == "end_turn"
    message = b.model.requests[0].messages[-1]
    assert shown(message) == []
    told = "\n".join(block.text for block in message.content if isinstance(block, Text))
    why = "the model Blind does not accept PNG files"
    assert f"PNG, which is not shown to you: {why}; open it with code" in told
    assert "PDF, which is not shown to you: the model Blind does not accept PDF files" in told
    assert [note.level for note in b.of(e.Note)] == ["warning"] * 2
    assert "plot.png is not shown to the model" in b.of(e.Note)[0].text


async def test_a_file_that_is_gone_or_unreadable_ends_no_turn(bench: MakeBench) -> None:
    b = bench(say("Done."))
    knowing(b, SEES)

    class Gone(dict[str, bytes]):
        def get(self, name: str, default: Any = None) -> Any:
            return b"x" * 10**7  # more than may be read

    place: Any = b.session.workplace
    place.beside = Gone({"plot.png": b"1"})
    send(b, "Look", "plot.png", "nowhere.png")
    assert (await b.ended()).stop_reason == "end_turn"
    assert shown(b.model.requests[0].messages[-1]) == []
    notes = [note.text for note in b.of(e.Note)]
    assert "nowhere.png" in notes[0] and "not found" in notes[0]
    assert "could not be read" in notes[1]


async def test_a_conversation_that_begins_anew_shows_what_this_turn_has_named(
    bench: MakeBench,
) -> None:
    b = bench(ModelError("context_full", "Too long."), say("Done."))
    knowing(b, SEES)
    b.beside["plot.png"] = picture("PNG")
    send(b, "Look", "plot.png")
    await b.ended()
    [message] = b.model.requests[1].messages
    assert len(shown(message)) == 1
    assert (b.session.log.talk.attached, b.session.log.talk.number) == (1, 2)


# --- one file ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "media"),
    [
        (picture("PNG"), "image/png"),
        (picture("JPEG"), "image/jpeg"),
        (picture("JPEG", progressive=True), "image/jpeg"),
    ],
    ids=["png", "jpeg", "progressive"],
)
def test_an_image_is_what_its_bytes_say(data: bytes, media: str) -> None:
    for name in ("image.png", "image", "notes.txt"):
        seen = look(name, data)
        assert isinstance(seen.shown, Image) and seen.why == ""
        assert seen.shown.source.media_type == media


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_half_an_image_is_not_sent(kind: str) -> None:
    whole = picture(kind, (60, 60))
    for end in range(12, len(whole) - 2, 7):
        seen = look("a.png", whole[:end])
        assert seen.shown is None and "damaged" in seen.why, end


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("page.png", b"<html><script>alert(1)</script>", "it is not a PNG"),
        ("drawing.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "it is not a PNG"),
        ("empty.pdf", b"", "it is not a PNG"),
        ("moving.gif", picture("GIF"), "it is not a PNG"),
        ("photo.webp", picture("WEBP"), "it is not a PNG"),
        ("half.pdf", PAPER[:-8], "incomplete"),
        ("locked.pdf", PAPER.replace(b"/Root", b"/Encrypt 5 0 R /Root"), "password-protected"),
        ("large.png", None, "larger than"),
        ("wide.png", picture("PNG", (8_001, 1)), "exceeds 3.75 MB or 8000 pixels"),
        ("large.pdf", PAPER[:9] + b" " * attached.MOST_OF_PDF + PAPER[9:], "exceeds 4.5 MB"),
        ("large.jpg", picture("JPEG") + b" " * attached.MOST_OF_IMAGE, "exceeds 3.75 MB"),
    ],
)
def test_what_cannot_be_shown_is_told_in_words(name: str, data: bytes | None, why: str) -> None:
    seen = look(name, data)
    assert seen.shown is None
    assert why in seen.why and why in seen.words and attached.BY_CODE in seen.words


@pytest.mark.parametrize("name", ["data.csv", "drawing.svg", "notes", "big.parquet"])
def test_of_other_files_nothing_is_said(name: str) -> None:
    assert look(name, b"<svg/>") == look(name, None) == attached.SeenFile()


def test_what_is_shown_is_bounded() -> None:
    png = picture("PNG")
    room = attached.FileRoom(images=12)
    seen = [attached.see("a.png", "a.png", png, SEES, room) for _ in range(14)]
    assert sum(one.shown is not None for one in seen) == 12
    assert "at most 16 images" in look("a.png", png, images=0).why
    assert "16 images and 9 MB" in look("a.pdf", PAPER, size=10).why
    assert look("a.pdf", PAPER, images=0).shown is not None


def test_a_model_is_not_sent_what_its_wire_does_not_carry() -> None:
    few = msgspec.structs.replace(SEES, takes=("image/png",))
    assert look("a.png", picture("PNG"), few).shown is not None
    assert "does not accept JPEG files" in look("a.jpg", picture("JPEG"), few).why
    assert "does not accept PDF files" in look("a.pdf", PAPER, few).why
    unsure = msgspec.structs.replace(SEES, images=None)
    assert look("a.png", picture("PNG"), unsure).shown is not None, "it may see them"
    assert attached.NAMES[PDF] == "PDF"
