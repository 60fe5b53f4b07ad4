"""Lines on what runs besides the Python code that a card shows, judged by the names in it.

They only inform, because code can hide what it does.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import TypeGuard

from ...base.sentences import Sentence
from ...cell_code.cell_names import is_plain
from ...cell_code.parsing import PYTHON_BELOW
from ...cell_code.source import Source, dotted, keyword, label, parsed

MOST_NOTICES = 8

_RUNS = {
    **dict.fromkeys(
        ("eval", "exec", "get_ipython().run_cell"), Sentence("runs code that it generates")
    ),
    **dict.fromkeys(
        ("__import__", "importlib.import_module"), Sentence("imports a module by a computed name")
    ),
    **dict.fromkeys(
        ("runpy.run_path", "runpy.run_module", "get_ipython().safe_execfile"),
        Sentence("runs another file"),
    ),
    **dict.fromkeys(
        ("os.system", "os.popen", "get_ipython().system", "get_ipython().getoutput"),
        Sentence("runs a shell command"),
    ),
    **dict.fromkeys(
        (
            *("get_ipython().run_cell_magic", "get_ipython().run_line_magic"),
            "get_ipython().magic",
        ),
        Sentence("runs a magic"),
    ),
}
_STARTS = re.compile(
    r"os\.(?:exec|spawn|posix_spawn|startfile)\w*|pty\.spawn|asyncio\.create_subprocess_\w+"
    r"|subprocess\.(?:run|Popen|call|check_call|check_output|getoutput|getstatusoutput)"
)
RAW = Sentence("raw data")
_SHOWS = {
    **dict.fromkeys(("HTML", "display_html", "HTMLMath"), "HTML"),
    **dict.fromkeys(("Javascript", "display_javascript"), "JavaScript"),
    **dict.fromkeys(("SVG", "display_svg"), "SVG"),
    **dict.fromkeys(("Markdown", "display_markdown"), "Markdown"),
    **dict.fromkeys(
        ("IFrame", "YouTubeVideo", "VimeoVideo", "ScribdDocument"), Sentence("a page or link")
    ),
    "publish_display_data": RAW,
}
"""Names of IPython and ipywidgets that show something, with the word for a notice. A script in it
runs in the page of everyone who opens the notebook, and may press buttons there."""
_SHOWN_BY = ("IPython", "ipywidgets", "get_ipython()")
_DRAWN = (
    *("_repr_html_", "_repr_javascript_", "_repr_svg_", "_repr_markdown_", "_repr_mimebundle_"),
    *("_ipython_display_", "display_formatter", "mimebundle_formatter", "display_pub"),
)
_RIGHTS = Sentence("its scripts run in this page with your rights")

_MAGIC = re.compile(r"[ \t]*(?:[\w., \t]{1,200}=[ \t]*)?(%%!|%%?|!!?)[ \t]*(\w{0,60})")
_SHELL_CELLS = (
    "bash",
    "sh",
    "script",
    "cmd",
    "sx",
    "system",
    "perl",
    "ruby",
    "pypy",
    "python",
    "python3",
)
_LOADS = ("load", "loadpy", "load_ext", "reload_ext", "macro", "recall", "rerun")
_FILES = ("writefile", "file")
_BROWSER = ("html", "javascript", "js", "svg")

ON_LINE = Sentence("Line {number} {what}.")
SHOWS = Sentence("shows {kind} created at run time ({name}): {rights}")
DRAWS = Sentence("changes how the page shows values ({name}): {rights}")


def notices(source: str, language: str, modules: Collection[str]) -> tuple[Sentence, ...]:
    """Lines on what runs besides the Python code shown, in the order of the code.

    ``modules``: files and folders beside the notebook that code can import, such as `helpers.py`.
    """
    read = parsed(source) if language.lower() == "python" else None
    magics = _magics(source, source.split("\n")) if language.lower() == "python" else ()
    found = [(number, words) for number, *magic in magics if (words := _of_magic(*magic))]
    if read is not None:
        found += _besides(read, frozenset(name.removesuffix(".py") for name in modules))
    said = tuple(
        dict.fromkeys(
            Sentence(ON_LINE, number=number, what=words) for number, words in sorted(found)
        )
    )
    if len(said) > MOST_NOTICES:
        more = len(said) - MOST_NOTICES + 1
        return (
            *said[: MOST_NOTICES - 1],
            Sentence("{count} more lines run something else.", count=more),
        )
    return said


def _besides(read: Source, modules: frozenset[str]) -> Iterator[tuple[int, Sentence]]:
    names = list(_names(read))
    imports = [(node, name.partition(".")[0]) for node, name in names if _is_import(node)]
    for node, root in imports:
        if root in modules:
            yield _line(node), Sentence("imports, and so runs, the local module {name}", name=root)
    # A name whose import is unknown may be IPython's, from an earlier cell.
    others = {root for _, root in imports} - set(_SHOWN_BY)
    literal = {node.func for node in read.nodes if _is_literal(node)}
    for node, name in names:
        plain, last = name.removeprefix("builtins."), name.rpartition(".")[2]
        if _is_import(node):
            continue
        if plain in _RUNS:
            yield _line(node), Sentence("{what} ({name})", what=_RUNS[plain], name=plain)
        elif _STARTS.fullmatch(name):
            yield _line(node), Sentence("starts another program ({name})", name=name)
        elif last in _SHOWS and name.partition(".")[0] not in others and node not in literal:
            yield _line(node), Sentence(SHOWS, kind=_SHOWS[last], name=last, rights=_RIGHTS)
    for node in read.nodes:
        for field in ("name", "id", "attr"):
            if (part := getattr(node, field, None)) in _DRAWN:
                yield _line(node), Sentence(DRAWS, name=part, rights=_RIGHTS)
        if isinstance(node, ast.Call) and label(node.func) == "display" and keyword(node, "raw"):
            yield node.lineno, Sentence(SHOWS, kind=RAW, name="display", rights=_RIGHTS)


def _is_literal(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether this calls something with texts and numbers only, of which none is an address."""
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    values = [part.value if isinstance(part, ast.Constant) else None for part in node.args]
    return None not in values and not str(next(iter(values), "")).lower().startswith("http")


def _of_magic(sign: str, name: str) -> Sentence:
    """What runs by a magic, besides Python that follows it."""
    if sign.startswith("%%"):
        if f"%%{name}" in PYTHON_BELOW:
            return Sentence()
        if _is_shell(sign, name):
            words = "gives the whole cell to a shell or program ({name})"
            return Sentence(words, name=f"{sign}{name}")
        if name in _FILES:
            return Sentence("writes the cell to a file (%%{name})", name=name)
        if name in _BROWSER:
            return Sentence("runs the cell in the browser (%%{name})", name=name)
        return Sentence("gives the whole cell to something else (%%{name})", name=name)
    if _is_shell(sign, name):
        return Sentence("runs a shell command ({name})", name=f"{sign}{name}")
    if name == "run":
        return Sentence("runs another file (%run)")
    return Sentence("loads other code (%{name})", name=name) if name in _LOADS else Sentence()


# -------------------------------------------------------------------------------------------------
# Names and magics of a cell.


def _names(source: Source) -> Iterator[tuple[ast.AST, str]]:
    """Each name that the code imports or reads, in full: ``s`` is ``os.system`` after
    ``from os import system as s``."""
    known: dict[str, str] = {}
    for node in source.nodes:
        if isinstance(node, ast.Import):
            known |= {alias.asname: alias.name for alias in node.names if alias.asname}
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = f"{node.module}." if node.module else ""
            known |= {alias.asname or alias.name: f"{module}{alias.name}" for alias in node.names}
            yield from ((node, f"{module}{alias.name}") for alias in node.names)
    for node in source.nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            first, dot, rest = _dotted(node).partition(".")
            yield node, f"{known.get(first, first)}{dot}{rest}"


def _is_import(node: ast.AST) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 1)


def _dotted(node: ast.expr) -> str:
    """As ``dotted``, with calls: ``get_ipython().system``. The last part of anything else."""
    if isinstance(node, ast.Call):
        return f"{dotted(node.func)}()"
    if isinstance(node, ast.Attribute):
        is_call = isinstance(node.value, ast.Call)
        return f"{_dotted(node.value) if is_call else dotted(node.value)}.{node.attr}"
    return dotted(node)


def _magics(source: str, lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """Line, sign and name of each magic and shell command. Python has none, whatever a line in a
    text looks like."""
    if is_plain(source):
        return
    first = True
    for number, line in enumerate(lines, 1):
        found = _MAGIC.match(line)
        if found is not None and (first or not found[1].startswith("%%")):
            yield number, found[1], found[2]
            if found[1].startswith("%%") and f"%%{found[2]}" not in PYTHON_BELOW:
                return
        # Cell magics count on the first line, or below one that passes the cell on.
        first = first and (not line.strip() or line.startswith("%%"))


def _is_shell(sign: str, name: str) -> bool:
    if sign.startswith("%%"):
        return sign == "%%!" or name in _SHELL_CELLS
    return sign.startswith("!") or (sign == "%" and name in ("system", "sx"))
