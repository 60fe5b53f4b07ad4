"""Examples with an expected result in a person's message: ``f(3) should give 9``.

Only a call of a plain name with literal arguments counts, and only a literal as the result. A
sentence that may speak of a fault, a condition or an estimate gives none.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from .source import parsed

READ = 20_000
"""Characters of a message that are read."""
MOST = 20
"""Examples of a message."""
MOST_CALLS = 200
"""Calls that are read."""
LONGEST = 300
"""Characters of a call, and of a result."""
MOST_NESTED = 20

_CALL = re.compile(r"(?<![\w.])([^\W\d]\w{0,60})\(")
_FAULTS = (
    r"wrong\w*|incorrect\w*|bugs?|buggy|broken|fails?|failing|currently|why|instead|used to|but|"
    r"actual\w*"
)
_FAULT = re.compile(rf"\b(?:{_FAULTS})\b", re.I)
"""What makes the lines below no examples."""
_NOT = re.compile(
    rf"\b(?:{_FAULTS}|not|never|cannot|rather|unlike|except|about|roughly|approximately|around|"
    r"could|may|might|if|unless|elif|while|whether|or|between)\b|n['\u2019]t\b|[~≈≠?]|!=",
    re.I,
)
"""What makes a line no example."""
_PART = re.compile(
    r"(?:\b(?:and|of|than|from|plus|minus|times|half|twice|by|with|return|in|is|to)"
    r"|[-+*/%=<>&|^~@,([{])\s*`?$",
    re.I,
)
"""What stands before a call that is a part of something larger."""
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)]|>(?!>))\s+")
_OPENS = re.compile(r"(?:(?:^|\s)\(|,\s+)`?$")
_AND = re.compile(r"[,;]?\s*and\s*`?")
_VERB = r"(?:return|give|be|equal|yield|produce|evaluate to|output|result in)"
_SURE = re.compile(
    r"`?\s*(?:===?|=(?![=>])|[=-]{1,3}>|[\u2192\u21d2\u27f6]"
    rf"|(?:should|must|has to|needs to|shall) {_VERB})\s*(?:exactly )?`?\s*",
    re.I,
)
_PLAIN = re.compile(r"`?\s*(?:returns|gives|is|equals|yields|produces|evaluates to)\s+`?\s*", re.I)
"""Says that it is an example only after a word for one."""
_CUE = re.compile(r"\b(?:e\.g\.|for example|for instance|examples?|such that|so that)", re.I)
_AFTER = re.compile(
    r"`?(?:\s*$|[.;!)](?:[\s.,;!)]|$)|,\s+(?!\d|['\"\[({])|\s+(?:and|while|because|since)\b|\s+[#(])"
)
_LITERAL = re.compile(
    r"""[-+]?(?:\d[\d_]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d{1,3})?(?![\w%])|(?:True|False|None)\b|"""
    r"""[bB]?'(?:[^'\\\n]|\\.){0,300}'|[bB]?"(?:[^"\\\n]|\\.){0,300}\""""
)
_OPENING = {"(": ")", "[": "]", "{": "}"}
_QUOTED = re.compile(r"(?<!\w)'[^'\n]{0,300}'(?!\w)|\"[^\"\n]{0,300}\"")
"""Texts, which may have any word."""
_AFTER_QUESTION = re.compile(r"(?<=\?)\s+(?=[A-Z])")
_DOCTEST = re.compile(r"\s*>>>\s?(.*)$")


class Example(msgspec.Struct, frozen=True):
    """``call`` and ``expected`` are Python as the person wrote it, in one line."""

    name: str
    call: str
    expected: str


def examples(message: str, source: str) -> tuple[Example, ...]:
    """Those of a message whose name is a function that the code defines at its top level."""
    found = of_message(message)
    code = parsed(source) if found else None
    if code is None:
        return ()
    names = {node.name for node in code.tree.body if isinstance(node, ast.FunctionDef)}
    return tuple(one for one in found if one.name in names)


def of_message(message: str) -> tuple[Example, ...]:
    """All, in order. Of two results for one call, neither counts."""
    found: dict[str, Example | None] = {}
    for one in _all(message[:READ].split("\n")):
        known = found.setdefault(one.call, one)
        if known is not None and known.expected != one.expected:
            found[one.call] = None
    return tuple(one for one in found.values() if one is not None)[:MOST]


def _all(lines: list[str]) -> Iterator[Example]:
    left = MOST_CALLS
    faulty = cued = in_session = False
    for place, line in enumerate(lines):
        session = _DOCTEST.match(line)
        in_session = session is not None or (in_session and bool(line.strip()))
        if session is not None and not faulty:
            after = lines[place + 1].strip() if place + 1 < len(lines) else ""
            yield from _session(session[1].strip(), after)
        if in_session or not line.strip():
            continue
        cued = cued or bool(_CUE.search(line))
        if not _CALL.search(line) or line.rstrip().endswith(":"):
            faulty = bool(_FAULT.search(line))
        plain = _QUOTED.sub("''", line)
        if "(" not in line or faulty or _FAULT.search(plain):
            continue
        # A question before the example is none of its conditions.
        for sentence in _AFTER_QUESTION.split(line):
            if _NOT.search(_QUOTED.sub("''", sentence)):
                continue
            for one in _of_line(sentence, cued):
                left -= 1
                if one is not None:
                    yield one
                if not left:
                    return


def _session(code: str, after: str) -> Iterator[Example]:
    """``>>> f(2)`` and the line below."""
    call = _CALL.match(code)
    if call is None or _end(code, call.end() - 1) != len(code) or not after:
        return
    if _literal(after, 0) == len(after):
        one = _example(call[1], code, after)
        if one is not None:
            yield one


def _of_line(line: str, cued: bool) -> Iterator[Example | None]:
    """One for each call of the line; None for a call without a result."""
    bullet = _BULLET.match(line)
    place = bullet.end() if bullet is not None else 0
    after_result = True
    while (call := _CALL.search(line, place)) is not None:
        end = _end(line, call.end() - 1)
        if end < 0:
            yield None
            place = call.end()
            continue
        before = line[place : call.start()]
        before = _OPENS.sub("", before)
        # After a call with a result, "and" begins the next example.
        starts = not _PART.search(before) or (after_result and bool(_AND.fullmatch(before)))
        result = _SURE.match(line, end) or (_PLAIN.match(line, end) if cued else None)
        stop = _literal(line, result.end()) if result is not None else -1
        one = None
        if starts and result is not None and stop > 0 and _AFTER.match(line, stop):
            text = line[result.end() : stop]
            one = _example(call[1], line[call.start() : end], text)
        after_result = one is not None
        yield one
        place = stop if one is not None else end


def _example(name: str, call: str, expected: str) -> Example | None:
    try:
        tree = ast.parse(call, mode="eval").body
        if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
            return None
        keywords = [one.value for one in tree.keywords if one.arg is not None]
        if len(keywords) < len(tree.keywords):
            return None
        values = [ast.literal_eval(one) for one in (*tree.args, *keywords)]
        values.append(ast.literal_eval(expected))
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    return None if any(map(_has_dots, values)) else Example(name, call, expected)


def _has_dots(value: Any) -> bool:
    """Whether something is left out, as in ``[1, 2, ...]``."""
    if isinstance(value, dict):
        return any(map(_has_dots, (*value, *value.values())))
    if isinstance(value, (list, tuple, set)):
        return any(map(_has_dots, value))
    return value is ...


def _literal(text: str, start: int) -> int:
    """Where the literal that begins here ends; -1 if there is none."""
    if text[start : start + 1] in _OPENING:
        return _end(text, start)
    found = _LITERAL.match(text, start)
    return found.end() if found is not None else -1


def _end(text: str, start: int) -> int:
    """The place after the bracket that closes the one at ``start``; -1 if there is none near."""
    open_: list[str] = []
    place, stop = start, min(len(text), start + LONGEST)
    while place < stop:
        character = text[place]
        if character in "'\"":
            quoted = _LITERAL.match(text, place)
            if quoted is None:
                return -1
            place = quoted.end()
            continue
        if character in _OPENING:
            open_.append(_OPENING[character])
            if len(open_) > MOST_NESTED:
                return -1
        elif open_ and character == open_[-1]:
            open_.pop()
            if not open_:
                return place + 1
        elif character in ")]}":
            return -1
        place += 1
    return -1
