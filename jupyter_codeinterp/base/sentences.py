"""Sentences for people. The terminal, the log and the model get English; a page gets its own
language, also from the journal later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any


class _Named(Formatter):
    def get_field(self, field_name: str, _: Any, kwargs: Mapping[str, Any]) -> Any:
        return kwargs[field_name], field_name


def filled(template: str, arguments: Mapping[str, Any]) -> str:
    """The template with its arguments filled in. ``{name.attribute}`` raises KeyError. Braces in an
    argument stay as they are."""
    return _Named().vformat(template, (), arguments).strip() if arguments else template


class Sentence(str):
    """A sentence in English that remembers its ``template``, for translation, and its
    ``arguments``, some of which may be sentences, too."""

    template: str
    arguments: dict[str, Any]

    def __new__(cls, template: str = "", /, **arguments: object) -> Sentence:
        """``template`` is a literal, so that programs find it for translators."""
        kept = {
            name: value if isinstance(value, (str, int, float)) else str(value)
            for name, value in arguments.items()
        }
        made = super().__new__(cls, filled(template, kept))
        made.template, made.arguments = str(template), kept
        return made

    def changed(self, change: Callable[[str], str]) -> Sentence:
        """Apply ``change`` to the arguments; to the whole text if it has no template."""
        if not self.template:
            return as_it_is(change(str(self)))
        changed = {
            name: one.changed(change) if isinstance(one, Sentence) else change(one)
            for name, one in self.arguments.items()
            if isinstance(one, str)
        }
        return Sentence(self.template, **{**self.arguments, **changed})


def together(*parts: str, between: str = " ") -> Sentence:
    """Join the parts that are not empty."""
    said = [part for part in parts if part]
    if len(said) == 1:
        return as_it_is(said[0])
    numbered = {str(number): part for number, part in enumerate(said)}
    return Sentence(between.join(f"{{{number}}}" for number in numbered), **numbered)


def as_it_is(text: str) -> Sentence:
    """Text of a person, a model or another program, which is not translated. A ``Sentence`` is
    returned unchanged."""
    if isinstance(text, Sentence):
        return text
    made = str.__new__(Sentence, text)
    made.template, made.arguments = "", {}
    return made


def in_english(value: object) -> str:
    """``enc_hook`` of msgspec for other readers than a page."""
    if not isinstance(value, Sentence):
        raise TypeError(f"{type(value).__name__} is not JSON")
    return str(value)


def to_journal(value: object) -> object:
    """``enc_hook`` of msgspec that keeps the template."""
    text = in_english(value)
    if not isinstance(value, Sentence) or not value.template:
        return text
    return {"template": value.template, "arguments": value.arguments}


def from_journal(kind: type, value: Any) -> Sentence:
    """``dec_hook`` of msgspec. Older journals have strings. Raises ValueError."""
    if isinstance(value, str):
        return as_it_is(value)
    try:
        arguments = {
            name: from_journal(kind, one) if isinstance(one, dict) else one
            for name, one in value["arguments"].items()
        }
        return Sentence(value["template"], **arguments)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"not a sentence: {error!r}") from None
