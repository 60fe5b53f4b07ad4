"""Untrusted text as Markdown that loads and runs nothing in any viewer.

Viewers parse Markdown differently, so a line keeps only its list marker and emphasis, and code
stays code. HTML, links, images, tables, formulas, diagrams and addresses become entities or code.
One pass per line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..view.plain_text import CELL_LINK

LONGEST = 200_000
"""Characters of one text that are shown."""

_LINE_END = re.compile(r"\r\n|\r|\n")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`~]*)")
_MARKER = re.compile(r"( {0,6})([-*+]|\d{1,9}[.)]) +(?=\S)")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+|$)")
_RULE = re.compile(r"[-=*_+:| \t]+$")
"""A line that would turn its neighbours into a heading or a table, or separate them."""
_LANGUAGES = frozenset(
    (
        *("bash", "c", "cpp", "css", "diff", "go", "html", "java", "javascript", "js", "json"),
        *("clojure", "csharp", "fortran", "fsharp", "haskell"),
        *("julia", "kotlin", "lua", "markdown"),
        *("matlab", "md", "ocaml", "octave", "perl", "php", "powershell", "py", "python", "r"),
        *("ruby", "rust", "scala", "sh", "sql", "text", "toml", "ts", "typescript", "xml", "yaml"),
    )
)
"""Languages of code blocks; others (such as diagrams) become plain text."""
_SPANS = re.compile(r"`+|\$\$?|\\+|\s+|[^\s`$\\]+")
_ADDRESS = re.compile(r"//|@|\w[.\u3002\uff0e][^\W\d_]{2}", re.IGNORECASE)
"""A sign that a word may be taken for an address of a site, a mailbox or a file."""
_ENTITIES = str.maketrans(
    {char: f"&#{ord(char)};" for char in "[]|~"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
)


def harmless(text: str) -> str:
    """``text`` as Markdown that loads and runs nothing."""
    lines = [_CONTROLS.sub("", line) for line in _LINE_END.split(text.strip()[:LONGEST])]
    shown: list[str] = []
    place = 0
    while place < len(lines):
        fence = _begins_code(lines[place])
        end = place + 1
        if fence is not None:
            while end < len(lines) and not _closes(lines[end], fence[1]):
                end += 1
            shown.append(fenced("\n".join(lines[place + 1 : end]), fence[2].lower()))
            end += 1
        elif lines[place].lstrip().startswith("|"):
            while end < len(lines) and lines[end].lstrip().startswith("|"):
                end += 1
            shown.append(fenced("\n".join(lines[place:end])))
        else:
            shown.append(_line(lines[place]))
        place = end
    if len(text) > LONGEST:
        shown.append(f"(… {len(text) - LONGEST:,} characters left out)")
    return "\n".join(shown)


def _begins_code(line: str) -> re.Match[str] | None:
    """The fence that the line opens, if any. One of backticks has no other backtick on its line."""
    fence = _FENCE.match(line)
    return None if fence and fence[1][0] == "`" and "`" in line[fence.end(1) :] else fence


def plain(text: str) -> str:
    """The text in one line, for titles and notes."""
    words = " ".join(_CONTROLS.sub("", text[:LONGEST].replace("\n", " ")).split())
    return _inline(words)


def fenced(text: str, language: str = "") -> str:
    """Code, in a fence longer than any run of backticks inside."""
    fence = "`" * max(3, _longest_run(text) + 1)
    known = language if language in _LANGUAGES else "text" if language else ""
    return f"{fence}{known}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def known_language(name: object) -> str:
    """A kernel's language as a fence may name it; "" if unknown."""
    word = name.lower() if isinstance(name, str) else ""
    word = {"c++": "cpp", "c#": "csharp", "f#": "fsharp"}.get(word, word)
    return word if word in _LANGUAGES else ""


def code(text: str) -> str:
    """Code within a line."""
    ticks = "`" * (_longest_run(text) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def quoted(text: str) -> str:
    """The text as a block quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _closes(line: str, fence: str) -> bool:
    """Whether the line closes the fence: up to three blanks, then the fence or a longer one."""
    bare = line.rstrip(" \t")
    indent = len(bare) - len(bare.lstrip(" "))
    return indent <= 3 and len(bare) - indent >= len(fence) and not bare[indent:].strip(fence[0])


def _line(line: str) -> str:
    if not line:
        return ""
    marker = _MARKER.match(line)
    rest = line[marker.end() :] if marker else line.strip()
    if _RULE.match(rest):
        return f"&#{ord(rest[0])};{rest[1:].translate(_ENTITIES)}" if rest else ""
    heading = _HEADING.match(rest)
    if heading is not None:
        words = rest[heading.end() :].strip(" #*")
        return f"**{_inline(words)}**\n" if words else ""
    return (marker.group() if marker else "") + _inline(rest.strip())


def _inline(line: str) -> str:
    parts: list[str] = []
    for is_code, text in _joined(_pieces(CELL_LINK.sub(r"\1", line))):
        parts.append(code(text) if is_code else text.translate(_ENTITIES))
    return "".join(parts)


def _pieces(line: str) -> Iterator[tuple[bool, str]]:
    """The words of a line, each with whether to show it as code: text between two equal runs of
    backticks, formulas between dollar signs, and addresses."""
    tokens = [match.group() for match in _SPANS.finditer(line)]
    last = {token: index for index, token in enumerate(tokens)}
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if token[0] in "`$" and last[token] > place:
            end = tokens.index(token, place + 1)
            inside = "".join(tokens[place + 1 : end])
            yield True, inside.strip() or token if token[0] == "`" else token + inside + token
            place = end
        else:
            yield token[0] in "`$\\" or bool(_ADDRESS.search(token)), token
        place += 1


def _joined(pieces: Iterator[tuple[bool, str]]) -> Iterator[tuple[bool, str]]:
    """The pieces with neighbours of one kind merged: adjacent code spans would not render."""
    kind, texts = False, [""]
    for is_code, text in pieces:
        if is_code != kind:
            yield kind, "".join(texts)
            kind, texts = is_code, []
        texts.append(text)
    yield kind, "".join(texts)


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
