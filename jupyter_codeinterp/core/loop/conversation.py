"""What has been said to the model and by it: append-only, stored as it grows.

When the context is nearly full, or the model is changed, the session goes on in a new
conversation that begins with a summary. The old one stays in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..attached.showing import weight
from ..history.deferred_writes import DeferredWrites
from ..messages import Document, Image, Message, Text, ToolResult, ToolUse, user
from ..model_view.foreign import Foreign, bare, mended, nonce_told
from ..model_view.references import BEGINNING
from ..model_view.rule_files import BEGINS
from ..stores import MessageStore

SUMMARY_LENGTH = 12_000
"""Characters of a summary: some 3,000 tokens, a small part of any model's context."""
PART_LENGTH = 1_500
"""Characters of one text in a summary."""
SUMMARY = "Summary of this conversation so far:\n"
"""How a summary begins, so that the next one takes it over whole."""
_DESCRIPTIONS = (
    *("<context", "<changes", "[In the text below <", "[Between <output-"),
    *(BEGINNING, BEGINS),
)
"""How descriptions of the notebook begin: the next conversation has one of its own."""


class Conversation:
    def __init__(
        self,
        store: MessageStore,
        session_id: str,
        deferred: DeferredWrites,
        scrub: Callable[[str], str] = str,
    ) -> None:
        self._store = store
        self._deferred = deferred
        self._session_id = session_id
        self.number, self._messages = store.messages(session_id)
        found = [nonce_told(text) for text in _first_words(self._messages)]
        self.foreign = Foreign(scrub, next(filter(None, reversed(found)), ""))
        """Its nonce is read from the messages themselves: they are the same after a restart."""
        self._told = any(found)

    def opening(self) -> tuple[Text, ...]:
        """What the model must know first, and has not been told yet."""
        told, self._told = self._told, True
        return () if told else (Text(self.foreign.told),)

    @property
    def empty(self) -> bool:
        return not self._messages

    @property
    def is_answered(self) -> bool:
        """Whether the model spoke last."""
        return bool(self._messages) and self._messages[-1].role == "assistant"

    def ends_with(self, text: str) -> bool:
        """Whether the person's last words, not answered yet, are ``text``."""
        last = self._messages[-1] if self._messages else None
        words = last.content[-1] if last is not None and last.role == "user" else None
        return isinstance(words, Text) and words.text == text

    @property
    def images(self) -> int:
        return sum(_images(message) for message in self._messages)

    @property
    def shown(self) -> int:
        """Bytes of the person's files that it shows."""
        return sum(weight(message.content) for message in self._messages)

    def add(self, *messages: Message) -> None:
        """Store messages that belong together, in one transaction: now, or else later. They
        have been said, and the model must know them in any case."""
        number = self.number
        self._messages = (*self._messages, *messages)
        self._deferred.do(lambda: self._store.append_messages(self._session_id, messages, number))

    def restart(self, summary: Message) -> None:
        """Go on in a new conversation that begins with ``summary``."""
        self.number += 1
        self._messages = ()
        self._told = False
        self.add(user(*self.opening(), *summary.content))

    def for_request(self) -> tuple[Message, ...]:
        """The messages to send. What the person's side said in a row becomes one message (a
        message after a stopped turn follows tool results, say): the API wants roles to
        alternate. Answers in a row (after ``pause_turn``) stay as they were given."""
        joined: list[Message] = []
        for message in self._messages:
            if message.role == "user" and joined and joined[-1].role == "user":
                joined[-1] = Message("user", joined[-1].content + message.content)
            else:
                joined.append(message)
        return tuple(joined)

    def summary(self) -> str:
        """What was asked, answered and run so far, in order, without another model call.

        Begins with ``SUMMARY``. The notebook itself still holds all cells and outputs; the
        model can read them.
        """
        parts: list[str] = []
        for message in self._messages:
            for block in message.content:
                line = self._summary_line(message.role, block)
                if line:
                    parts.append(line)
        text = "\n".join(parts)
        if len(text) > SUMMARY_LENGTH:
            head, tail = SUMMARY_LENGTH // 3, SUMMARY_LENGTH - SUMMARY_LENGTH // 3
            nonce = self.foreign.nonce
            first, last = mended(text[:head], nonce), mended(text[-tail:], nonce)
            text = f"{first}\n… some parts left out …\n{last}"
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
            return f"Person: [showed {what}, which is not here any more]"
        if isinstance(block, ToolUse):
            title = block.input.get("title") or block.input.get("cell_id") or ""
            return f"You called {block.name} {title}".rstrip()
        if isinstance(block, ToolResult):
            text = "".join(part.text for part in block.content if isinstance(part, Text))
            facts, _, rest = bare(text).partition("\n")
            return (
                f"Result: {facts}\n{self.foreign.quoted(_cut(rest))}"
                if rest
                else f"Result: {facts}"
            )
        return ""


def _first_words(messages: Sequence[Message]) -> Iterator[str]:
    """The first text of each message of the person's side."""
    for message in messages:
        first = message.content[0] if message.role == "user" and message.content else None
        if isinstance(first, Text):
            yield first.text


def _images(message: Message) -> int:
    """Of the person, and in results."""
    return sum(
        isinstance(part, Image)
        for block in message.content
        for part in (block.content if isinstance(block, ToolResult) else (block,))
    )


def _cut(text: str) -> str:
    return text if len(text) <= PART_LENGTH else text[:PART_LENGTH] + " …"
