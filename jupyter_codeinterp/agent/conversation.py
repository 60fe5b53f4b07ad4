"""The messages to and from the model: append-only, stored at once.

When the context is nearly full, or the model changes, the session continues in a new
conversation that begins with a summary. The store keeps the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..journal.event_log import DeferredWrites
from ..journal.sqlite.store import SqliteStore
from ..run.turn.budget import BUDGET
from ..view.attached import weight
from ..view.injection.caution import Cautions
from ..view.redaction.found_secrets import without_secrets
from ..view.references import BEGINNING
from ..view.rule_files import BEGINS
from ..view.untrusted import Untrusted, balanced, bare, nonce_in
from ..wire.messages import (
    Document,
    Image,
    Message,
    Text,
    ToolResult,
    ToolUse,
    user,
    with_room,
)

SUMMARY_LENGTH = 12_000
"""Characters of a summary: some 3,000 tokens, a small part of any model's context."""
PART_LENGTH = 1_500
"""Characters of one text in a summary."""
SUMMARY = "Summary of this conversation so far:\n"
"""First words of a summary; the next summary includes it whole."""
_DATA = ("<context", "<changes", "[In the text below <")
"""First words of notebook descriptions."""
_DESCRIPTIONS = (
    *(*_DATA, "[Between <output-"),
    *(BEGINNING, BEGINS, BUDGET, "[Check of your answer:", "[Wishes of the person"),
    "[The outcome of the draft that was waiting:]",
)
"""First words of notebook descriptions, which a summary omits: the new conversation has its own.
The last two are from older journals."""


class Conversation:
    def __init__(
        self,
        store: SqliteStore,
        session_id: str,
        deferred: DeferredWrites,
        scrub: Callable[[str], str] = str,
    ) -> None:
        self._store = store
        self._deferred = deferred
        self._session_id = session_id
        self.number, self._messages = store.messages(session_id)
        found = [nonce_in(text) for text in _first_words(self._messages)]
        nonce = next(filter(None, reversed(found)), "")
        self.untrusted = Untrusted(lambda text: without_secrets(scrub(text)), nonce, scrub)
        """The nonce comes from the stored messages, so it survives a restart."""
        self._opened = any(found)
        self.cautions = Cautions()
        self.cautions.take_up(self._messages)

    def opening(self) -> tuple[Text, ...]:
        """The explanation of the delimiters, once per conversation."""
        opened, self._opened = self._opened, True
        return () if opened else (Text(self.untrusted.explanation),)

    @property
    def empty(self) -> bool:
        return not self._messages

    @property
    def is_answered(self) -> bool:
        """Whether the model spoke last."""
        return bool(self._messages) and self._messages[-1].role == "assistant"

    def ends_with(self, text: str) -> bool:
        """Whether the last message is the person's and ends with ``text``."""
        last = self._messages[-1] if self._messages else None
        words = last.content[-1] if last is not None and last.role == "user" else None
        return isinstance(words, Text) and words.text == text

    def has(self, text: str) -> bool:
        """Whether the latest of our texts with the beginning of this one is equal to it."""
        begin = text.partition(":")[0]
        blocks = (block for one in reversed(self._messages) for block in one.content)
        texts = (block.text for block in blocks if isinstance(block, Text))
        return next((one for one in texts if one.startswith(f"{begin}: at most")), "") == text

    @property
    def attached(self) -> int:
        """Number of images from the person's files in the conversation."""
        blocks = (block for message in self._messages for block in message.content)
        return sum(isinstance(block, Image) for block in blocks)

    @property
    def shown(self) -> int:
        """Bytes of the person's files in the conversation."""
        return sum(weight(message.content) for message in self._messages)

    def add(self, *messages: Message) -> None:
        """Store messages in one transaction, now or, if the journal fails, later. Labels data that
        contains instructions to the model."""
        number, nonce = self.number, self.untrusted.nonce
        label = self.cautions.labelled
        messages = tuple(label(message, nonce, _DATA, (BEGINNING,)) for message in messages)
        self._messages = (*self._messages, *messages)
        self._deferred.do(lambda: self._store.append_messages(self._session_id, messages, number))

    def restart(self, summary: Message) -> None:
        """Begin a new conversation with ``summary``."""
        self.number += 1
        self._messages = ()
        self._opened = False
        self.cautions.begin_turn()
        self.add(user(*self.opening(), *summary.content))

    def for_request(self) -> tuple[Message, ...]:
        """The messages to send. Consecutive user messages become one, because the API wants
        roles to alternate. Consecutive answers (after ``pause_turn``) stay apart."""
        joined: list[Message] = []
        for message in self._messages:
            if message.role == "user" and joined and joined[-1].role == "user":
                joined[-1] = Message("user", joined[-1].content + message.content)
            else:
                joined.append(message)
        return with_room(joined)

    def summary(self) -> str:
        """Questions, answers and calls so far, made without a model call. Begins with
        ``SUMMARY``."""
        parts: list[str] = []
        for message in self._messages:
            for block in message.content:
                line = self._summary_line(message.role, block)
                if line:
                    parts.append(line)
        text = "\n".join(parts)
        if len(text) > SUMMARY_LENGTH:
            head, tail = SUMMARY_LENGTH // 3, SUMMARY_LENGTH - SUMMARY_LENGTH // 3
            nonce = self.untrusted.nonce
            first, last = balanced(text[:head], nonce), balanced(text[-tail:], nonce)
            text = f"{first}\n… some parts left out …\n{last}"
        if self.cautions.label:
            # Outside the delimiters, because quoted results have their own labels inside.
            label = f"\n{self.cautions.label}"
            text = text.replace(label, "") + label
        return SUMMARY + text

    def _summary_line(self, role: str, block: object) -> str:
        if isinstance(block, Text):
            if role == "user" and block.text.startswith(SUMMARY):
                return block.text[len(SUMMARY) :]
            if role == "user" and block.text.startswith(_DESCRIPTIONS):
                return ""
            return f"{'Person' if role == 'user' else 'You'}: {_cut(block.text)}"
        if isinstance(block, (Image, Document)):
            what = "an image" if isinstance(block, Image) else "a PDF"
            return f"Person: [showed {what}, no longer included]"
        if isinstance(block, ToolUse):
            title = block.input.get("title") or block.input.get("cell_id") or ""
            return f"You called {block.name} {title}".rstrip()
        if isinstance(block, ToolResult):
            text = "".join(part.text for part in block.content if isinstance(part, Text))
            return self._result_line(text)
        return ""

    def _result_line(self, text: str) -> str:
        facts, _, rest = bare(text).partition("\n")
        line = f"Result: {facts}"
        return f"{line}\n{self.untrusted.quoted(_cut(rest))}" if rest else line


def _first_words(messages: Sequence[Message]) -> Iterator[str]:
    """The first text of each user message."""
    for message in messages:
        first = message.content[0] if message.role == "user" and message.content else None
        if isinstance(first, Text):
            yield first.text


def _cut(text: str) -> str:
    return text if len(text) <= PART_LENGTH else text[:PART_LENGTH] + " …"
