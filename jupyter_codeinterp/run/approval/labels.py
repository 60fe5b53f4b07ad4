"""What code may reach and what else it runs, judged by the names in it, for the reader of a card.

``labels`` are a few words on a card, ``notices`` are lines on what runs besides the code shown.
Both only inform, because code can hide what it does.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeGuard

from ...base.sentences import Sentence
from ...cell_code.cell_names import is_plain, names_of
from ...cell_code.parsing import PYTHON_BELOW
from ...cell_code.source import Source, dotted, keyword, label, parsed
from ...wire.findings import WORDS, Kind, Label
from ...wire.ops import CellView
from . import installs, protected

LONGEST = 80
"""Characters of a line in a label."""
MOST_NAMES = 3
"""Variables that a label names."""
MOST_NOTICES = 8

# -------------------------------------------------------------------------------------------------
# The table. A name also covers what is inside it, such as ``requests.get``; one that begins with a
# dot is the last part of any name.

_REACHES: dict[Kind, str] = {
    "network": """
requests urllib.request urllib3 httpx aiohttp socket socketserver ssl http.client http.server ftplib
smtplib poplib imaplib telnetlib xmlrpc websocket websockets paramiko fabric boto3 botocore s3fs
gcsfs adlfs fsspec google.cloud azure openai anthropic yfinance pymongo redis psycopg psycopg2
pymysql mysql oracledb pyodbc sqlalchemy clickhouse_connect snowflake kafka pika huggingface_hub
datasets wandb mlflow kaggle gspread selenium playwright scrapy webbrowser ldap3 grpc zmq
asyncio.open_connection asyncio.start_server pandas_datareader .urlopen .urlretrieve
.from_pretrained .to_gbq .read_gbq .load_dataset .fetch_openml .snapshot_download .hf_hub_download
""",
    "processes": """
subprocess pty multiprocessing pexpect sh plumbum invoke os.system os.popen os.fork os.startfile
os.kill asyncio.create_subprocess_exec asyncio.create_subprocess_shell joblib.Parallel
concurrent.futures.ProcessPoolExecutor
""",
    "deletes": """
os.remove os.unlink os.rmdir os.removedirs shutil.move .unlink .rmdir .rmtree .removedirs
.send2trash
""",
    "writes": """
os.mkdir os.makedirs os.rename os.renames os.replace os.link os.symlink os.chmod os.truncate os.open
shutil.copy shutil.copy2 shutil.copyfile shutil.copytree shutil.make_archive shutil.unpack_archive
tempfile sqlite3 dbm shelve logging.FileHandler .savefig .write_text .write_bytes .touch .mkdir
.makedirs .symlink_to .hardlink_to .chmod .tofile .savez .savez_compressed .savetxt .to_excel
.to_feather .to_parquet .to_orc .to_hdf .to_stata .to_pickle .to_sql .to_clipboard .to_netcdf
.to_zarr .to_file .to_disk .write_csv .write_parquet .write_ipc .write_json .write_ndjson
.write_avro .write_excel .write_database .write_delta .write_image .write_html .write_video
.sink_csv .sink_parquet .sink_ipc .sink_ndjson .save .save_model .save_pretrained .imwrite .imsave
.extractall .dump
""",
}
_KINDS: dict[str, Kind] = {name: kind for kind, names in _REACHES.items() for name in names.split()}
_TEXTS = frozenset(
    ["to_csv", "to_json", "to_html", "to_latex", "to_xml", "to_markdown", "to_string"]
)
"""Methods that write a file only if they get a path; else they return text."""
_READ_CALLS = """
read_csv read_table read_fwf read_excel read_json read_parquet read_feather read_orc read_hdf
read_stata read_sas read_spss read_xml read_html read_ipc read_ndjson read_avro read_delta
read_file scan_csv scan_parquet scan_ipc scan_ndjson loadtxt genfromtxt fromfile memmap imread
open_dataset open_mfdataset open_zarr listdir scandir ExcelFile walk glob iglob open read_text
read_bytes iterdir rglob
"""
_READS = frozenset(_READ_CALLS.split())
"""Calls that read a path: their first argument, or the path object that they are a method of."""
_PATHS = ("Path", "pathlib.Path", "os.path.join")

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
"""Names of IPython and ipywidgets that show something, with the word for a label. A script in it
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
_DRIVE = re.compile(r"[A-Za-z]:|[\\/~]")
_URL = re.compile(r"[A-Za-z][\w+.-]*://")

# -------------------------------------------------------------------------------------------------
# Labels.


def persons_variables(
    cells: Iterable[CellView], is_agents: Callable[[CellView], bool], protected: Iterable[str] = ()
) -> frozenset[str]:
    """Variables that the person's cells define, except imports, and the ``protected`` ones."""
    found = set(protected)
    for cell in cells:
        if cell.cell_type == "code" and not is_agents(cell):
            names = names_of(cell.source)
            found |= {*cell.assigns, *names.binds} - names.imports
    return frozenset(found)


def labels(
    source: str, language: str, persons: Collection[str] = (), folder: str = ""
) -> tuple[Label, ...]:
    """The labels of a cell, the gravest first, one per kind with its first line.

    ``persons``: the person's variables. ``folder``: the absolute path of the notebook's folder;
    "" if unknown. Never raises.
    """
    lines = source.split("\n")
    read = parsed(source) if language.lower() == "python" else None
    found = dict[Kind, int]()
    for kind, line in _found(source, lines, read, folder):
        found[kind] = min(line, found.get(kind, line))
    made = [Label(kind, found[kind], _code(lines, found[kind])) for kind in WORDS if kind in found]
    changed = sorted(_changes(source, read, persons))
    if changed:
        line, names = changed[0][0], tuple(name for _, name in changed[:MOST_NAMES])
        more = max(0, len(changed) - MOST_NAMES)
        made.append(Label("changes", line, _code(lines, line), names, more))
    return tuple(made)


def _code(lines: list[str], line: int) -> str:
    code = " ".join(lines[line - 1].split()) if line <= len(lines) else ""
    return code if len(code) <= LONGEST else f"{code[: LONGEST - 1]}\u2026"


def _found(
    source: str, lines: list[str], read: Source | None, folder: str
) -> Iterator[tuple[Kind, int]]:
    if not source.strip():
        return
    if read is None:
        yield "unreadable", 1
        return
    if installs.found_in(source, "python"):
        names = ("pip", "conda", "mamba", "uv")
        first = (n for n, line in enumerate(lines, 1) if any(name in line for name in names))
        yield "installs", next(first, 1)
    for number, sign, name in _magics(source, lines):
        if _is_shell(sign, name):
            yield "processes", number
        elif sign == "%%" and name in _FILES:
            yield "writes", number
    for node, name in _names(read):
        parts = name.split(".")
        wholes = (".".join(parts[:end]) for end in range(1, min(len(parts), 3) + 1))
        known = next((whole for whole in (*wholes, f".{parts[-1]}") if whole in _KINDS), None)
        if known is not None:
            yield _KINDS[known], _line(node)
    for node in read.nodes:
        if isinstance(node, ast.Call):
            yield from ((kind, node.lineno) for kind in _called(node, folder))


def _changes(
    source: str, read: Source | None, persons: Collection[str]
) -> Iterator[tuple[int, str]]:
    """The person's variables that the code changes, with the first line of each."""
    if read is None:
        return
    for name in protected.changed(source, tuple(persons)) or ():
        places = read.names.get(name, ())
        stored = (place.lineno for place in places if not isinstance(place.ctx, ast.Load))
        named = (place.lineno for place in places)
        yield min(stored, default=min(named, default=1)), name


def _called(call: ast.Call, folder: str) -> Iterator[Kind]:
    """What a call does with the paths that are written in it."""
    function = call.func
    last = dotted(function).rpartition(".")[2] or getattr(function, "attr", "")
    if last in _TEXTS and call.args:
        yield "writes"
    of_path = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call)
    mode = keyword(call, "mode") or next(iter(call.args[0 if of_path else 1 :]), None)
    if last == "open" and set(next(_texts(mode), "")) & set("wax+"):
        yield "writes"
    elif last in _READS:
        place = function.value if of_path and isinstance(function, ast.Attribute) else None
        for path in _texts(place or next(iter(call.args), None)):
            if _URL.match(path):
                yield "network"
            elif not _is_inside(path, folder):
                yield "reads_outside"


def _texts(node: ast.expr | None) -> Iterator[str]:
    """The texts of which a path is made."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.BinOp):
        yield from _texts(node.left)
        # In `folder + "/a.csv"` the variable decides where the file is, not the text.
        yield from _texts(node.right if isinstance(node.op, ast.Div) else None)
    elif isinstance(node, ast.JoinedStr):
        yield from (text for part in node.values[:1] for text in _texts(part))
    elif isinstance(node, ast.Call) and dotted(node.func) in _PATHS:
        yield from (text for part in node.args for text in _texts(part))


def _is_inside(path: str, folder: str) -> bool:
    """Whether the path stays inside ``folder``, an absolute path or "" (unknown). Does not follow
    links."""
    if "//" in path or "\\" in path or "\0" in path or path.startswith("~"):
        return False
    whole = _DRIVE.match(path)
    if folder.strip("/"):
        full = posixpath.normpath(path if whole else f"{folder}/{path}")
        return f"{full}/".startswith(f"{folder.rstrip('/')}/")
    return not (whole or posixpath.normpath(path).startswith(".."))


# -------------------------------------------------------------------------------------------------
# Notices.


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
