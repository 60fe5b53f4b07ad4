"""Whether Markdown is plain: text, code, lists, tables and links to the web, nothing else.

JupyterLab renders a Markdown cell, and so do other programs that open the file. Their parsers
differ from ours. So we look for other content twice: in the raw text,
wherever a parser may see it, and in the tokens of a CommonMark parser, which must be on an
allowlist. When in doubt, both ask the person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ...base.sentences import Sentence
from . import markdown_cells
from .markdown_cells import nesting

LONGEST = 100_000
"""Characters. Longer text is not parsed, and always needs a review."""
LONGEST_PARAGRAPH = 10_000
"""Characters without a blank line. Browsers' parsers take quadratic time."""
_MOST_EMPHASIS = 1_000
_DEEPEST = markdown_cells.DEEPEST

_PLAIN_NAMES = """
blockquote_open blockquote_close bullet_list_open bullet_list_close code_block code_inline
em_open em_close fence hardbreak heading_open heading_close hr inline link_open link_close
list_item_open list_item_close ordered_list_open ordered_list_close paragraph_open
paragraph_close s_open s_close softbreak strong_open strong_close table_open table_close
tbody_open tbody_close td_open td_close text th_open th_close thead_open thead_close
tr_open tr_close text_special
"""
_PLAIN_TOKENS = frozenset(_PLAIN_NAMES.split())
_PLAIN_LINK = re.compile(r"(?:https?://|mailto:|#)[^\x00-\x20\\]*\Z", re.IGNORECASE)
_PLAIN_LANGUAGE = re.compile(r"[\w+#.-]{0,40}\Z")

_MARKUP = re.compile(r"<[A-Za-z/!?]")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITY = re.compile(r"&[#\w]{1,40};?")
_SIGNS = frozenset("!\"#$%'()*+,-./:;<=>?@[\\]^_`{|}~")
_FORMULA = re.compile(r"\$|\\[(\[]|\\begin\b")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)(?![A-Za-z])(?:\{([A-Za-z]{1,20}\*?)\})?")
_FENCE = re.compile(r"[ \t>*+\-0-9.)]*(`{3,}|~{3,})([^\n]*)")
_DEFINITION = re.compile(r"[ \t>*+\-0-9.)]*\[")
_ROLE = re.compile(r"\{[\w:+-]{1,40}\}`")

_parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
# By default it leaves some addresses as text, which other parsers turn into links.
setattr(_parser, "validateLink", lambda url: True)  # noqa: B010 - mypy knows it as a method


TOO_LONG = Sentence("This text is longer than {limit:,} characters and was not checked.")
TOO_DEEP = Sentence("This text is nested {levels} levels deep. Some browsers cannot show that.")
NOT_PLAIN = Sentence("This text contains more than plain Markdown ({kind}).")
PARAGRAPH = Sentence("This text has a paragraph of more than {limit:,} characters.")
EMPHASIS = Sentence("This text has a paragraph with more than {limit:,} emphasis marks.")
UNKNOWN = Sentence("This text has formulas with the unknown command {name}.")


def markdown_risks(text: str) -> tuple[Sentence, ...]:
    """What in ``text`` may load content, run code or overwhelm a page: a sentence each for the
    person; empty if it is plain."""
    if len(text) > LONGEST:
        return (Sentence(TOO_LONG, limit=LONGEST),)
    found = list(dict.fromkeys(_in_text(text)))
    if not found:
        # The parser gets only text that passed the first check.
        env: dict[str, object] = {}
        found = list(dict.fromkeys(_in_tokens(_parser.parse(text, env))))
        if env.get("references"):
            found.append(Sentence("This text defines links in one place and uses them in another."))
    return tuple(found)


def _in_text(text: str) -> Iterator[Sentence]:
    """Search the raw text, code included: parsers disagree on where code begins."""
    decoded = unescape(text)
    bare = _ESCAPED.sub(r"\1", decoded)
    if _MARKUP.search(text):
        yield Sentence("This text contains raw HTML, or something that looks like it.")
    if "![" in text:
        yield Sentence("This text contains an image.")
    if any("mermaid" in words.lower() for words in (text, decoded, bare)):
        yield Sentence("This text contains a diagram, which may load external content.")
    if any(sign in _SIGNS for sign in _entities(text)):
        yield Sentence("This text contains HTML entities.")
    if "[^" in text:
        yield Sentence("This text contains footnotes.")
    if ":::" in text or _ROLE.search(text):
        yield Sentence("This text contains directives or roles.")
    if text.lstrip("\ufeff \t\r\n").startswith(("---", "+++", "...")):
        yield Sentence("This text may begin with settings (front matter).")
    lines = text.splitlines()
    for line in lines:
        fence = _FENCE.match(line)
        if fence and not _PLAIN_LANGUAGE.match(fence[2].strip()):
            yield Sentence("This text has a code block with settings.")
        if "]:" in line and _DEFINITION.match(line):
            yield Sentence("This text defines links in one place and uses them in another.")
    yield from _in_formulas(decoded)
    deepest = nesting(text)
    if deepest > _DEEPEST:
        yield Sentence(TOO_DEEP, levels=deepest)
    if _brackets(text) > _DEEPEST:
        yield Sentence("This text has many unclosed brackets. Parsers read such text differently.")
    paragraphs = re.split(r"\n[ \t\r]*(?=\n)", text)
    if max(map(len, paragraphs)) > LONGEST_PARAGRAPH:
        yield Sentence(PARAGRAPH, limit=LONGEST_PARAGRAPH)
    if max(part.count("*") + part.count("_") for part in paragraphs) > _MOST_EMPHASIS:
        yield Sentence(EMPHASIS, limit=_MOST_EMPHASIS)


def _brackets(text: str) -> int:
    """The most brackets that are open at once in a paragraph."""
    most = depth = 0
    for sign in re.findall(r"[\[\]]|\n[ \t\r]*(?=\n)", text):
        depth = depth + 1 if sign == "[" else max(0, depth - 1) if sign == "]" else 0
        most = max(most, depth)
    return most


def _entities(text: str) -> Iterator[str]:
    """The characters that its HTML entities stand for."""
    return (unescape(entity) for entity in _ENTITY.findall(text))


def _in_formulas(text: str) -> Iterator[Sentence]:
    """Check every command if there may be a formula, without finding formulas."""
    if not _FORMULA.search(text):
        return
    for name in _COMMAND.findall(text):
        # A line's end, \\\\, may precede a letter.
        if name not in markdown_cells.COMMANDS and len(name) > 1:
            yield Sentence(UNKNOWN, name=f"\\{name[:20]}")
            return
    if any(name not in markdown_cells.ENVIRONMENTS for name in _ENVIRONMENT.findall(text)):
        yield Sentence("This text has formulas with an unknown environment.")
    for part in re.split(r"\n[ \t\r]*\n", text):
        if len(part) > markdown_cells.LONGEST and _FORMULA.search(part):
            yield Sentence("This text may contain a very long formula.")
            return


def _in_tokens(tokens: Sequence[Token], depth: int = 0) -> Iterator[Sentence]:
    for token in tokens:
        depth += token.nesting
        if token.type not in _PLAIN_TOKENS:
            yield Sentence(NOT_PLAIN, kind=token.type.replace("_", " "))
        if token.type == "fence" and not _PLAIN_LANGUAGE.match(token.info.strip()):
            yield Sentence("This text has a code block with settings.")
        if token.type == "link_open" and not _PLAIN_LINK.match(str(token.attrs.get("href", ""))):
            yield Sentence("This text has a link that does not lead to the web.")
        if depth > 2 * _DEEPEST:
            yield Sentence("This text is nested deeper than some browsers can show.")
        if token.children:
            yield from _in_tokens(token.children, depth)
