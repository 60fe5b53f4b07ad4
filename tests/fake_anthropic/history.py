"""Whether a conversation is only ever appended to.

The API has no memory; the fake has. The last assistant message must be one that it gave, in
answer to a request that was exactly what stands before it now: system prompt, tools and
messages, byte for byte but for pictures of results. (The messages further up were checked in
the same way in their time.) A conversation whose first message was never seen is taken as it
is: it may come from before this server was started.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .signing import without_markers

_THINKING = ("thinking", "redacted_thinking")


@dataclass
class Given:
    """One answer. ``content`` is what a faithful client sends back; None while it streams,
    and for good if it broke off: then anything, or nothing, may have been kept of it."""

    system: str
    tools: str
    messages: list[str]
    content: list[dict[str, Any]] | None = None
    paused: bool = False


@dataclass
class History:
    given: list[Given] = field(default_factory=list)
    _texts: dict[str, str] = field(default_factory=dict)

    def begin(self, body: dict[str, Any]) -> Given:
        """Note a request that will be answered."""
        messages = self._exact_all(body["messages"])
        given = Given(_exact(body.get("system")), _exact(body.get("tools")), messages)
        self.given.append(given)
        return given

    def problems(self, body: dict[str, Any]) -> Iterator[str]:
        messages = body["messages"]
        exact = self._exact_all(messages)
        kin = [given for given in self.given if given.messages[0] == exact[0]]
        ends = [i for i, message in enumerate(messages) if message["role"] == "assistant"]
        if not kin or not ends:
            return
        end = ends[-1]
        asked = [given for given in kin if given.messages == exact[:end]]
        origin = [given for given in asked if _returned(given.content, messages[end]["content"])]
        if not origin and not (asked and asked[-1].content is None):
            yield f"append-only: {_difference(kin, messages, exact, end)}"
        elif all(given.system != _exact(body.get("system")) for given in asked):
            yield "append-only: the system prompt has changed"
        elif all(given.tools != _exact(body.get("tools")) for given in asked):
            yield "append-only: the tools have changed"
        elif end == len(messages) - 1 and not any(given.paused for given in origin):
            yield "This model does not support assistant message prefill."

    def _exact_all(self, messages: list[dict[str, Any]]) -> list[str]:
        """Each message as text; equal texts are one object, for every request repeats all."""
        texts = [_exact(message) for message in messages]
        return [self._texts.setdefault(text, text) for text in texts]


def _returned(content: list[dict[str, Any]] | None, sent: list[dict[str, Any]]) -> bool:
    """Text may be added only where the API wants some: to nothing at all, or to thinking."""
    if content is None:
        return False
    head, rest = sent[: len(content)], sent[len(content) :]
    may_add = not content or content[-1]["type"] in _THINKING
    added = all(may_add and block["type"] == "text" for block in rest)
    return added and _alike(head, content)


def _alike(sent: list[dict[str, Any]], content: list[dict[str, Any]]) -> bool:
    """Equal, but for the ids of calls that came with the same id twice."""
    ids = [block["id"] for block in content if block["type"] == "tool_use"]
    if len(set(ids)) == len(ids):
        return sent == content
    return [{**block, "id": ""} for block in sent] == [{**block, "id": ""} for block in content]


def _difference(
    kin: list[Given], messages: list[dict[str, Any]], exact: list[str], end: int
) -> str:
    """In words, against the request that is most like what stands before the answer now."""
    nearest = max(kin, key=lambda given: _common(given.messages, exact))
    common = _common(nearest.messages, exact)
    if common < len(nearest.messages) and common < end:
        was, now = nearest.messages[common], exact[common]
        return f"message {common} was {_part(was, now)} and is {_part(now, was)}"
    return f"message {end} is not what was answered: {_exact(messages[end])[:300]}"


def _common(one: list[str], other: list[str]) -> int:
    """How many items are equal at the beginning."""
    pairs = zip(one, other, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _part(words: str, other: str) -> str:
    """The words from shortly before they begin to differ from the other."""
    at = _common(list(words), list(other))
    return f"…{words[max(0, at - 40) : at + 120]}…"


LEFT_OUT = "[no longer shown: later pictures"


def _exact(value: Any) -> str:
    value = without_markers(value)
    text = json.dumps(value, ensure_ascii=False)
    if '"image"' in text or LEFT_OUT in text:
        text = json.dumps(_without_pictures(value), ensure_ascii=False)
    return text


def _without_pictures(value: Any, in_result: bool = False) -> Any:
    """With one word for each picture of a result: a client may leave old ones out, and says so."""
    if isinstance(value, (list, tuple)):
        return [_without_pictures(item, in_result) for item in value]
    if not isinstance(value, dict):
        return value
    left_out = str(value.get("text", "")).startswith(LEFT_OUT)
    if in_result and (value.get("type") == "image" or left_out):
        return "picture"
    inside = value.get("type") == "tool_result"
    return {k: _without_pictures(v, inside and k == "content") for k, v in value.items()}
