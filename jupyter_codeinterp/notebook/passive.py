"""Recognizes outputs in which nothing can run, so that their cell may be trusted without a review.

JupyterLab trusts whole cells, and the server signs a notebook only if it trusts all of its cells.
So an unreviewed table must not cost the person's own plots their trust, and a script must not gain
it. All other types are active: widgets, plots with scripts, SVG, Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

TYPES = frozenset(
    (
        *("text/plain", "text/latex", "application/json"),
        *("image/png", "image/jpeg", "image/gif", "image/bmp", "image/webp"),
    )
)
"""Types that JupyterLab shows in the same way, trusted or not."""
LIMIT = 1_000_000
"""Characters of HTML that are read; longer HTML counts as active."""

_ATTRIBUTE = (
    r'(?:border|colspan|rowspan|scope|class|valign|halign)="[\w -]{0,80}"'
    r'|id="T_\w{0,80}"'
    r'|style="text-align: (?:left|right|center);?"'
)
_TAG = re.compile(
    r"</?(?:div|table|caption|colgroup|col|thead|tbody|tfoot|tr|th|td|p|br|hr|b|i|em|strong|small"
    r"|sub|sup|span|code|pre|ul|ol|li|dl|dt|dd|h[1-6])"
    rf"(?:[ \n]{{1,8}}(?:{_ATTRIBUTE})){{0,8}}[ \n]{{0,8}}/?>"
)
"""Tags of tables and plain text, with harmless attributes."""
_STYLE = re.compile(r'<style(?: scoped| type="text/css")?>')
_STYLE_END = "</style>"
_SELECTOR = re.compile(r"(?:\.dataframe|#T_\w+)[\w .:>-]*")
_DECLARATION = re.compile(
    r"(?:(?:text-align|vertical-align|white-space|font-weight|color|background-color):"
    r"\s?[#\w-]{1,40})?"
)
"""Declarations in the style sheets of pandas and polars, which apply to their table alone."""


def is_passive(outputs: Iterable[Mapping[str, Any]]) -> bool:
    """Whether nothing in these outputs can run, fetch, or change how the page looks."""
    bundles = (output.get("data", {}) for output in outputs)
    return all(isinstance(data, dict) and passive_data(data) == data for data in bundles)


def passive_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a bundle, by type, in which nothing can run."""
    return {kind: value for kind, value in data.items() if _is_passive(kind, value)}


def _is_passive(kind: str, value: object) -> bool:
    return kind in TYPES or (
        kind == "text/html"
        and isinstance(value, str)
        and len(value) <= LIMIT
        and is_plain_html(value)
    )


def is_plain_html(text: str) -> bool:
    """Whether HTML has only tables and text. One pass, up to the first unknown tag."""
    place = text.find("<")
    while place >= 0:
        if (tag := _TAG.match(text, place)) is not None:
            place = tag.end()
        elif (style := _STYLE.match(text, place)) is not None:
            end = text.find(_STYLE_END, style.end())
            if end < 0 or not _is_of_tables(text[style.end() : end]):
                return False
            place = end + len(_STYLE_END)
        else:
            return False
        place = text.find("<", place)
    return True


def _is_of_tables(css: str) -> bool:
    *rules, rest = css.split("}")
    return not rest.strip() and all(_is_rule(rule) for rule in rules)


def _is_rule(rule: str) -> bool:
    selectors, brace, declarations = rule.partition("{")
    return (
        bool(brace)
        and all(_SELECTOR.fullmatch(one.strip()) for one in selectors.split(","))
        and all(_DECLARATION.fullmatch(one.strip()) for one in declarations.split(";"))
    )
