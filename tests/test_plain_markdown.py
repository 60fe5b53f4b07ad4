"""Which Markdown is plain, and that a hostile text costs the check no time."""

from __future__ import annotations

import pytest

from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.run.approval.markdown_cells import (
    NOT_CHECKED,
    TOO_DEEP,
    nesting,
    risks,
    too_deep,
)
from jupyter_codeinterp.run.approval.plain_markdown import LONGEST, markdown_risks
from tests.busy import growth, processor_seconds

PLAIN = [
    "# Title\n\n- a < b and c > d\n\n**bold** _it_ ~~gone~~ `code` [link](https://example.org)",
    "1. one\n2. two\n   - sub\n\n> quote\n\n---\n\nend  \nof it",
    "| a | b |\n|---|--:|\n| 1 | 2 |",
    "```python\nx = {'a': [1, 2]}\n```\n\n~~~\nraw\n~~~\n\n    indented",
    "- [ ] to do\n- [x] done",
    "$\\frac{1}{2}$, $$\\sum_{i=1}^n x_i$$ and \\\\(x\\\\)",
    "\\begin{align*}\na &= b \\\\\nc &= d\n\\end{align*}",
    "R&D, AT&amp;T, 5&nbsp;% and caf&eacute;",
    "mail [me](mailto:me@example.org), see [the end](#End)",
    "costs $5 and $6",
]

RISKY = [
    "<img src=x>",
    "text <SCRIPT>alert(1)</SCRIPT>",
    "<custom onclick='x'>",
    "<custom/onclick='x'>",
    "<acronym translate style='background:url(http://evil)'>",
    "<command disabled style=x>",
    "<!-- hidden -->",
    "<?php",
    "<![CDATA[x]]>",
    "<div\nclass=x>",
    "`<img src=x>`",
    "\\`<img src=http://x>\\`",
    "    <img src=http://x>",
    "<https://example.org>",
    "![x](http://evil/x.png)",
    "![x](plot.png)",
    "![x](attachment:image.png)",
    "![x][ref]\n\n[ref]: https://evil/x.png",
    "[x][ref]\n\n[ref]: https://example.org",
    "> [ref]: https://example.org",
    '```mermaid\ngraph TD\nA@{ img: "http://evil/" }\n```',
    "~~~MERMAID\ngraph TD\n~~~",
    "> - ```mermaid\n>   graph TD\n>   ```",
    "```mer&#109;aid\nx\n```",
    "```mer\\maid\nx\n```",
    "```{mermaid}\nx\n```",
    "```python {.mermaid}\nx\n```",
    "```{code-cell}\nx\n```",
    ":::{note}\nx\n:::",
    "{doc}`x`",
    "[x](javascript:alert(1))",
    "[x](data:text/html,x)",
    "[x](//evil/x)",
    "[x](/lab/tree/x)",
    "&lt;img src=x&gt;",
    "&#33;[x](http://evil/x)",
    "text[^1]\n\n[^1]: note",
    "---\ntitle: x\n---\n",
    "$\\href{http://evil}{x}$",
    "$\\includegraphics{http://evil}$",
    "$\\unicode{x41}$",
    "$\\require{html}\\style{background:url(http://evil)}{x}$",
    "&#36;\\href{http://evil}{x}&#36;",
    "$\\h&#114;ef{http://evil}{x}$",
    "$\\def\\a{\\a\\a}\\a$",
    "$x$ `\\\\href{y}{z}`",
    "\\begin{html}x\\end{html}",
    "$" + "\\frac{1}{" * 45 + "x" + "}" * 45 + "$",
    "$" + "{%}\n" * 45 + "$",
    "> " * 45 + "x",
    "- " * 45 + "x",
    "[" * 45,
    "a " * 6_000,
    "*a _b " * 600,
    "a\n\n" * (LONGEST // 3 + 1),
    "$" + "x" * 4_100 + "$",
    "&#" + "1" * 5_000 + ";",
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_markdown(text: str) -> None:
    assert markdown_risks(text) == ()


@pytest.mark.parametrize("text", RISKY, ids=lambda text: text[:30])
async def test_markdown_that_asks(text: str) -> None:
    said = await risks(markdown_risks, text)
    assert said
    assert all(line.endswith(".") for line in said)


async def test_a_check_that_fails_asks() -> None:
    def fails(text: str) -> tuple[Sentence, ...]:
        raise RecursionError

    assert await risks(fails, "x") == (NOT_CHECKED,)
    assert await risks(fails, "x" * 5_000) == (NOT_CHECKED,)


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("plain {text} with [brackets]", 1),
        ("$" + "\\frac{1}{" * 100, 100),
        ("\\left(" * 30 + "\\begin{array}" * 30, 61),
        ("{}\n\n" * 100, 1),
        ("> - " * 20, 40),
        ("  " * 50 + "- x", 50),
        ("    " * 50 + "code(x)", 0),
    ],
)
def test_nesting(text: str, depth: int) -> None:
    assert nesting(text) == depth
    assert bool(too_deep(text)) == (depth > TOO_DEEP)


_SIGNS = (
    "< [ ] ( * ** _ ` > - 1. | \\ $ { & &# ~~ # ![ [a]( [a] [a]: [[ ]( http:// <http a* a_b *a**b "
    "`a``b [` [* |-"
)
SHAPES = [
    *_SIGNS.split(),
    "\n",
    "\n\n",
    "  ",
    " \n",
    "- a\n  ",
    "a\n\n",
    "|a|\n|-|\n",
    "> a\n",
    "\t",
    "$\\frac{",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_check_of_hostile_markdown_takes_linear_time(shape: str) -> None:
    def text(length: int) -> str:
        return (shape * length)[:length]

    assert growth(markdown_risks, text, 20_000) == ""
    # What is very long is not read.
    assert min(processor_seconds(markdown_risks, text(1_000_000)) for _ in range(3)) < 0.2
