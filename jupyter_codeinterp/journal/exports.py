"""A conversation as Markdown: what was asked, said and run, for people to read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from itertools import islice

from ..wire.commands import SessionInfo
from ..wire.events import Cost, Event, UsageChanged
from ..wire.ops import FinishRun, Output, joined
from .prose import code, fenced, harmless, known_language, plain, quoted
from .sqlite.store import SqliteStore
from .transcript import AnswerText, Card, Item, Line, PersonMessage, turns

Pictures = Mapping[str, Sequence[str]]
"""Pictures as ``data:`` addresses, by run id."""
LOOKS = ("read_notebook", "read_output", "read_skill", "inspect_variables")
"""Tools whose result is for the model alone."""
_IMAGES = re.compile(r"^\[image(?:: [^\]\n]{1,110})?\](?:\n|\Z)", re.MULTILINE)
"""Lines in place of pictures."""


def markdown(info: SessionInfo, events: Iterable[Event], pictures: Pictures = {}) -> str:  # noqa: B006
    """The conversation as Markdown with pictures. Opening the file runs and loads nothing."""
    events = list(events)
    date = datetime.fromtimestamp(info.created, timezone.utc)
    parts = [
        f"# {plain(info.title) or 'Conversation'}",
        f"Notebook: {code(' '.join(info.notebook.split()))}  \nDate: {date:%Y-%m-%d %H:%M} UTC"
        + "".join(f"  \nCost: {words}" for words in _cost(events)),
    ]
    for turn in turns(events):
        if turn.asked:
            parts += ["## You", quoted(harmless(turn.asked)), *_along(turn.files), "## Answer"]
        for step in turn.steps:
            parts += [text for item in step for text in _in_markdown(item, pictures)]
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def _cost(events: Iterable[Event]) -> list[str]:
    """A line with the conversation's cost; [] without a model call."""
    used = [event for event in events if isinstance(event, UsageChanged)]
    cost = str(Cost(used[-1].cost, used[-1].local)) if used else ""
    return [cost.removeprefix("cost ")] if cost else []


def _along(files: tuple[str, ...]) -> list[str]:
    """A line with the names of a message's files; their content is not exported."""
    names = ", ".join(code(" ".join(name.split())) for name in files)
    return [f"With {names}"] if names else []


def _in_markdown(item: Item, pictures: Pictures) -> list[str]:
    if isinstance(item, AnswerText):
        return [harmless(item.text)]
    if isinstance(item, PersonMessage):
        return ["## You", quoted(harmless(item.text)), *_along(item.files), "## Answer"]
    if isinstance(item, Line):
        return [f"*{plain(item.text)}*"]
    words, done = item.status.replace("_", " "), item.done
    parts = [f"### {plain(item.title or item.name)} ({words})"]
    if item.question:
        parts += [harmless(item.question), quoted(harmless(item.answer))]
    elif item.ran or (item.kind == "markdown" and item.status == "ok"):
        language = known_language(item.language) if item.ran else "markdown"
        drawn = [address for run in item.runs for address in pictures.get(run, ())]
        text = _IMAGES.sub("", item.result) if drawn else item.result
        parts += [fenced(item.source, language), _result(text)]
        parts += [f"![picture]({address})" for address in drawn]
    elif item.status == "not_run" and done is not None:
        parts += [_result(done.summary)]
    elif item.name not in LOOKS or item.status != "ok":
        parts += [_result(item.result)]
    return [*parts, *_findings(item)]


def _findings(card: Card) -> list[str]:
    """The findings that the person saw on a run, as a Markdown list."""
    found = card.done.findings if card.done is not None else ()
    lines = "\n".join(f"- {plain(str(finding))}" for finding in found)
    return [f"Findings:\n\n{lines}"] if lines else []


def _result(text: str) -> str:
    return fenced(text, "text") if text else ""


# -------------------------------------------------------------------------------------------------
# The pictures of a conversation, from the outputs in the journal.

MOST = 20_000_000
"""Characters of all pictures of an export. Later ones are left out."""
_KINDS = (("image/png", "iVBORw0KGgo"), ("image/jpeg", "/9j/"))
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


async def pictures(store: SqliteStore, session_id: str) -> dict[str, list[str]]:
    """The pictures of a session's runs, as ``Pictures``."""
    found: dict[str, list[str]] = {}
    left = MOST
    for stored in store.ops(session_id):
        if isinstance(stored.op, FinishRun) and stored.outputs:
            outputs = await store.kept_outputs(session_id, stored.outputs) or ()
            for drawn in _drawn(outputs):
                left -= len(drawn)
                if left > 0:
                    found.setdefault(stored.op.run_id, []).append(drawn)
    return found


def _drawn(outputs: Iterable[Output]) -> Iterator[str]:
    for output in outputs:
        data = output.get("data")
        if isinstance(data, dict):
            yield from islice(filter(None, (_address(data, *kind) for kind in _KINDS)), 1)


def _address(data: dict[str, object], media: str, begins: str) -> str:
    encoded = "".join(joined(data.get(media)).split())
    right = encoded.startswith(begins) and _BASE64.fullmatch(encoded)
    return f"data:{media};base64,{encoded}" if right else ""
