"""Warnings for the card on what a reader of code may overlook, one line each.

They help a person's review and stop nothing: code can always hide what it does. Hidden characters
also make a run ask, so that check errs on the side of asking.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator

from ...base.visible import has_heaped_marks
from .installs import found_in

# -------------------------------------------------------------------------------------------------
# Python that shows HTML or JavaScript that is no literal in the code.
#
# A script in such an output runs in the page of everyone who opens it, and may press buttons there.
# So the card names the line.

_SHOWS = {
    **dict.fromkeys(("HTML", "display_html", "HTMLMath"), "HTML"),
    **dict.fromkeys(("Javascript", "display_javascript"), "JavaScript"),
    **dict.fromkeys(("SVG", "display_svg"), "SVG"),
    **dict.fromkeys(("Markdown", "display_markdown"), "Markdown"),
    **dict.fromkeys(
        ("IFrame", "YouTubeVideo", "VimeoVideo", "ScribdDocument", "FileLink", "FileLinks"),
        "a page or link",
    ),
    **dict.fromkeys(("publish_display_data", "publish"), "raw data"),
}
_ROOTS = ("IPython", "ipywidgets", "get_ipython()")
_FETCHES = ("url", "filename", "lib", "css")
_METHODS = frozenset(
    (
        *("_repr_html_", "_repr_javascript_", "_repr_svg_", "_repr_markdown_"),
        *("_repr_mimebundle_", "_ipython_display_"),
    )
)
_FORMATTERS = frozenset(("display_formatter", "mimebundle_formatter"))
_WARNING = "its scripts run in this page with your rights"


def shows(name: str, imported: Collection[str]) -> str:
    """The kind of content that a call of this name shows (`IPython.display.HTML`); "" if none.
    ``imported``: packages that the cell imports. A name from none of them may come from IPython
    through an earlier cell."""
    root, _, _ = name.partition(".")
    last = name.rpartition(".")[2]
    known = last in _SHOWS and (last != "publish" or "display_pub" in name)
    return _SHOWS[last] if known and (root in _ROOTS or root not in imported) else ""


def warned(kind: str, name: str) -> str:
    last = name.rpartition(".")[2]
    return f"shows {kind} created at run time ({last}): {_WARNING}"


def is_literal(call: ast.Call) -> bool:
    """Whether all arguments of the call are literals, and none makes it fetch something."""
    given = [*call.args, *(word.value for word in call.keywords)]
    named = {word.arg for word in call.keywords}
    return (
        all(map(_constant, given)) and not named.intersection(_FETCHES) and not _address(call.args)
    )


def _constant(node: ast.expr) -> bool:
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(_constant, node.elts))
    if isinstance(node, ast.Dict):
        return None not in node.keys and all(
            _constant(part) for part in (*node.keys, *node.values) if part is not None
        )
    return isinstance(node, ast.Constant)


def _address(args: list[ast.expr]) -> bool:
    """Whether the first argument is a web address, which IPython fetches."""
    first = args[0] if args else None
    value = first.value if isinstance(first, ast.Constant) else ""
    return isinstance(value, str) and value.lower().startswith("http")


def raw_display(call: ast.Call, name: str) -> str:
    """The warning for ``display(…, raw=True)``; "" for other calls and for literals."""
    raw = next((word.value for word in call.keywords if word.arg in ("raw", None)), None)
    shown = name.rpartition(".")[2] == "display" and raw is not None
    off = isinstance(raw, ast.Constant) and not raw.value
    return warned("raw data", "display") if shown and not off and not is_literal(call) else ""


def defines(name: str) -> str:
    """The warning for a name that the code defines, assigns to or has in a string; "" if none."""
    if name in _METHODS:
        return f"defines how the page shows a value ({name}): {_WARNING}"
    if name in _FORMATTERS:
        return f"changes how the page shows values ({name}): {_WARNING}"
    return ""


_MOST_NOTICES = 8
SAVED_KEY = "Contains a saved key, or a part of one."

# --- what else runs ------------------------------------------------------------------

_PASSES_ON = frozenset(("capture", "prun", "time", "timeit"))
"""Magics that run the Python after them, which is checked, too."""
_MAGIC = re.compile(r"(%%?|!!?)(\w*)[ \t]*(.*)$")
_TARGETS = re.compile(r"[\w.,\s]+")
_HELP = re.compile(r"[\w.*%]+\?{1,2}$")
_NESTED = 20
"""Most nested magics in a line; people write far fewer."""
_PARSED = 30_000
"""Characters of code that are parsed, because the parser blocks all other threads."""
_LONGEST_NAME = 8
"""Dots read in a name; the names looked for have at most three."""

_NAMES = {
    "eval": "runs code that it generates (eval)",
    "exec": "runs code that it generates (exec)",
    "__import__": "imports a module by a computed name (__import__)",
    "importlib.import_module": "imports a module by a computed name (import_module)",
    "runpy.run_path": "runs another file (runpy)",
    "runpy.run_module": "runs another module (runpy)",
    "os.system": "runs a shell command (os.system)",
    "os.popen": "runs a shell command (os.popen)",
    "pty.spawn": "starts another program (pty.spawn)",
    "get_ipython().system": "runs a shell command (get_ipython().system)",
    "get_ipython().getoutput": "runs a shell command (get_ipython().getoutput)",
    "get_ipython().run_cell": "runs code that it generates (get_ipython().run_cell)",
    "get_ipython().run_cell_magic": "runs a cell magic (get_ipython().run_cell_magic)",
    "get_ipython().run_line_magic": "runs a line magic (get_ipython().run_line_magic)",
    "get_ipython().magic": "runs a line magic (get_ipython().magic)",
    "get_ipython().safe_execfile": "runs another file (get_ipython().safe_execfile)",
}
_STARTS_PROGRAM = re.compile(
    r"os\.(?:exec|spawn|posix_spawn|startfile)\w*|asyncio\.create_subprocess_\w+"
    r"|subprocess\.(?:run|Popen|call|check_call|check_output|getoutput|getstatusoutput)"
)
_ELSEWHERE = {
    "r": (
        (r"\b(?:system2?|shell)\s*\(", "runs a shell command"),
        (r"\bsource\s*\(", "runs a file"),
    ),
    "julia": ((r"\brun\s*\(\s*`", "runs a shell command"), (r"\binclude\s*\(", "runs a file")),
}


def notices(source: str, language: str, written_files: frozenset[str]) -> tuple[str, ...]:
    """Warnings on what runs besides the code shown, at most eight, in the order of the lines.

    ``written_files``: local modules beside the notebook, as `helpers.py` or `helpers`. For
    languages other than Python only a few patterns are known.
    """
    lines = source.split("\n")
    if language.lower() != "python":
        found = [
            (number, words)
            for number, line in enumerate(lines, 1)
            for pattern, words in _ELSEWHERE.get(language.lower(), ())
            if re.search(pattern, line)
        ]
    else:
        modules = frozenset(name.removesuffix(".py") for name in written_files)
        found = list(_python(lines, modules))
    ordered = dict.fromkeys(f"Line {number} {words}." for number, words in sorted(found))
    said = tuple(ordered)
    if len(said) > _MOST_NOTICES:
        more = len(said) - _MOST_NOTICES + 1
        return (*said[: _MOST_NOTICES - 1], f"{more} more lines run something else.")
    return said


def _python(lines: list[str], modules: frozenset[str]) -> Iterator[tuple[int, str]]:
    if sum(map(len, lines)) + len(lines) > _PARSED:
        yield 1, "and the rest is too long to check"
        return
    if any(map(has_heaped_marks, lines)):
        yield 1, "and the rest has too many combining marks to check"
        return
    tree = _parse("\n".join(lines))
    if tree is None:  # Only then may some lines be IPython's.
        plain = list(lines)
        first = True  # Cell magics count on the first line, or below one of ``_PASSES_ON``.
        for index, line in enumerate(lines):
            if not line.strip():
                continue
            words, plain[index], rest_is_python = _ipython(line, first)
            if words:
                yield index + 1, words
            if not rest_is_python:
                return
            first = first and line.lstrip().startswith("%%")
        tree = _parse("\n".join(plain))
    if tree is None:
        yield 1, "and the rest could not be parsed as Python, so it was not checked"
        return
    visitor = _Visitor(modules)
    try:
        visitor.visit(tree)
    except RecursionError:
        yield 1, "and the rest is nested too deeply to check"
    yield from visitor.found


def _parse(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _ipython(line: str, first: bool) -> tuple[str, str, bool]:
    """The warning for a line, the Python left of it, and whether Python lines follow."""
    said = line.strip()
    if said.startswith("?") or _HELP.match(said):
        return "", "", True
    indent = line[: len(line) - len(line.lstrip())]
    passed_on = False
    for _ in range(_NESTED):
        match = _magic(said)
        if match is None:
            return "", f"{indent}{said}" if passed_on else line, True
        sign, name, rest = match.groups()
        if sign == "%%":
            if passed_on or not first:
                return "", line, True
            if name not in _PASSES_ON:
                return _cell_magic(name, rest), "", False
            return "", _without_options(rest) if name == "timeit" else "", True
        if sign != "%" or name not in _PASSES_ON:
            return _line_magic(sign, name, rest), f"{indent}pass", True
        said, passed_on = _without_options(rest).strip(), True
        if not said:
            return "", f"{indent}pass", True
    return "runs magics within magics", f"{indent}pass", True


def _magic(said: str) -> re.Match[str] | None:
    """The magic in a line, also if its result is assigned: `%run x`, `files = !ls`."""
    match = _MAGIC.match(said)
    if match is not None:
        return match
    targets, equals, value = said.partition("=")
    if not equals or not _TARGETS.fullmatch(targets):
        return None
    return _MAGIC.match(value.lstrip())


def _without_options(rest: str) -> str:
    """A magic's arguments after its options, such as `f()` of `-n 5 -r 2 f()`. One pass."""
    words = _WORDS.finditer(rest)
    after_option = False
    for word in words:
        text = word.group()
        if text.startswith("-") and text[1:].replace("_", "").isalnum():
            after_option = True
        elif not (after_option and text.isdecimal()):
            return rest[word.start() :]
        else:
            after_option = False
    return ""


_WORDS = re.compile(r"\S+")


def _cell_magic(name: str, rest: str) -> str:
    if name in ("bash", "sh", "script", "cmd", "sx", "system", ""):
        return f"gives the whole cell to a shell or program (%%{f'{name} {rest}'.strip()})"
    if name in ("writefile", "file"):
        return f"writes the cell to the file {rest.split(' ')[-1]} (%%{name})"
    if name in ("html", "javascript", "js", "svg"):
        return f"runs the cell in the browser (%%{name})"
    return f"gives the whole cell to something else (%%{name})"


def _line_magic(sign: str, name: str, rest: str) -> str:
    if sign.startswith("!"):
        return f"runs a shell command ({sign}{name})"
    if name == "run":
        file = next((word for word in rest.split() if not word.startswith("-")), "")
        return f"runs the file {file} (%run)"
    if name in ("system", "sx"):
        return f"runs a shell command (%{name})"
    managers = ("pip", "conda", "mamba", "micromamba", "uv")
    # ``installs`` warns of installed and removed packages.
    if name in managers and not found_in(f"%{name} {rest}", "python"):
        return f"runs a package manager (%{name})"
    if name in ("load", "loadpy", "load_ext", "reload_ext", "macro", "recall", "rerun"):
        return f"loads other code (%{name})"
    return ""


class _Visitor(ast.NodeVisitor):
    """Collects warnings by full name; follows `from os import system as s`."""

    def __init__(self, modules: frozenset[str]) -> None:
        self.modules = modules
        self.names: dict[str, str] = {}
        self.roots: set[str] = set()
        """Packages that the code imports or imports from."""
        self.literal: set[ast.expr] = set()
        """Functions of calls with literal arguments only."""
        self.found: list[tuple[int, str]] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            root = alias.name.split(".")[0]
            self.names[alias.asname or root] = alias.name if alias.asname else root
            self.roots.add(root)
            self._local(node.lineno, root)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        self.roots.add(module.split(".")[0])
        for alias in node.names:
            self.names[alias.asname or alias.name] = f"{module}.{alias.name}"
            if not module:
                self._local(node.lineno, alias.name)
        self._local(node.lineno, module.split(".")[0])

    def _local(self, line: int, module: str) -> None:
        if module in self.modules:
            self.found.append((line, f"imports, and so runs, the local module {module}"))

    def visit_Call(self, node: ast.Call) -> None:
        if is_literal(node):
            self.literal.add(node.func)
        self._say(node, raw_display(node, self._name(node.func)))
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        self._named(node)
        if isinstance(node.ctx, ast.Store):
            self._say(node, defines(node.id))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._named(node)
        if isinstance(node.ctx, ast.Store) or node.attr.endswith("_formatter"):
            self._say(node, defines(node.attr))
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._say(node, defines(node.name))
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        self._say(node, defines(node.arg or ""))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._say(node, defines(node.value))

    def _say(self, node: ast.expr | ast.stmt | ast.keyword, words: str) -> None:
        if words:
            self.found.append((node.lineno, words))

    def _named(self, node: ast.Name | ast.Attribute) -> None:
        name = self._name(node).removeprefix("builtins.")
        if name in _NAMES:
            self.found.append((node.lineno, _NAMES[name]))
        elif _STARTS_PROGRAM.fullmatch(name):
            self.found.append((node.lineno, f"starts another program ({name})"))
        elif (
            isinstance(node.ctx, ast.Load)
            and node not in self.literal
            and (kind := shows(name, self.roots))
        ):
            self.found.append((node.lineno, warned(kind, name)))

    def _name(self, node: ast.expr, dots: int = _LONGEST_NAME) -> str:
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute) and dots:
            return f"{self._name(node.value, dots - 1)}.{node.attr}"
        if isinstance(node, ast.Call) and dots:
            return f"{self._name(node.func, dots - 1)}()"
        return ""


# --- keys ----------------------------------------------------------------------------


def keys(scrub: Callable[[str], str], source: str) -> tuple[str, ...]:
    """A warning if ``source`` has a saved key, which only history and model get without."""
    return (SAVED_KEY,) if scrub(source) != source else ()


# --- hidden characters ---------------------------------------------------------------

# Invisible letters, marks and blanks; control and format characters are found by category.
_INVISIBLE = frozenset(
    (
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
        *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0000, 0xE1000)),
    )
)
_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"


_MOST_KINDS = 100
_MOST_LOOKED_AT = 5_000
"""Most joiners and style selectors checked, one by one."""
_LINES = 6
"""Lines searched for a character: one more than a sentence names."""


def hidden_characters(source: str) -> tuple[str, ...]:
    """A warning with line numbers for each kind of character in ``source`` that is invisible,
    reverses the text or looks like a space."""
    if source.isascii() and source.replace("\n", "").isprintable():
        return ()
    unseen = (char for char in set(source) if not char.isprintable() or ord(char) in _INVISIBLE)
    kinds = [char for char in unseen if char != "\n" and _hides(char)]
    kinds.sort(key=source.index) if len(kinds) <= _MOST_KINDS else kinds.sort()
    said = []
    for char in kinds[:_MOST_KINDS]:
        lines = _lines_with(char, source)
        if lines:
            said.append(_sentence(char, lines))
    more = len(said) + max(0, len(kinds) - _MOST_KINDS) - _MOST_NOTICES
    if more > 0:
        return (*said[: _MOST_NOTICES - 1], f"{more + 1} more kinds of hidden characters.")
    return tuple(said)


def _lines_with(char: str, source: str) -> list[int]:
    """The first lines, from 1, in which ``char`` hides something."""
    lines: list[int] = []
    counted, number, place = 0, 1, source.find(char)
    in_words = char in (_JOINER, _EMOJI_STYLE)
    for _ in range(_MOST_LOOKED_AT):
        if place < 0 or len(lines) == _LINES:
            return lines
        if not (in_words and _in_emoji(source, place)):
            number += source.count("\n", counted, place)
            counted = place
            lines.append(number)
            end = source.find("\n", place)
            place = -1 if end < 0 else source.find(char, end)
        else:
            place = source.find(char, place + 1)
    return lines or [number]  # So many are suspicious in themselves.


def _hides(char: str) -> bool:
    if char in " \t":
        return False
    kind = unicodedata.category(char)
    return kind in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs") or ord(char) in _INVISIBLE


def _in_emoji(line: str, index: int) -> bool:
    """Whether a joiner or style selector is part of an emoji: 👩‍💻, ✔️."""
    char, before, after = line[index], line[index - 1 : index], line[index + 1 : index + 2]
    if char == _EMOJI_STYLE:
        return bool(before) and unicodedata.category(before) in ("So", "Sm", "Sk")
    if char == _JOINER and before and after:
        pictures = ("So", "Sk")
        if before == _EMOJI_STYLE:
            before = line[index - 2 : index - 1]
        return bool(before) and all(unicodedata.category(c) in pictures for c in before + after)
    return False


def _sentence(char: str, lines: list[int]) -> str:
    name = unicodedata.name(char, "CONTROL CHARACTER").capitalize()
    listed = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
    word = "line" if len(lines) == 1 else "lines"
    return f"Hidden character in {word} {listed}: {name} (U+{ord(char):04X})."
