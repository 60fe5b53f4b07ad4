"""Labels of code: what it may reach, judged by the names in it. They only inform, because code
can hide what it does."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator

from ...cell_code.cell_names import is_plain, names_of
from ...cell_code.source import Source, dotted, keyword, parsed
from ...wire.findings import WORDS, Kind, Label
from ...wire.ops import CellView
from . import installs, protected

LONGEST = 80
"""Characters of a line in a label."""
MOST_NAMES = 3
"""Variables that a label names."""
_SHELL = re.compile(r"[ \t]*(?:[\w., \t]{1,200}=[ \t]*)?(?:!|%(?:system|sx)\b)")
_SHELL_CELLS = (
    *("%%bash", "%%sh", "%%script", "%%cmd", "%%sx", "%%system", "%%!"),
    *("%%perl", "%%ruby", "%%pypy", "%%python", "%%python3"),
)
_DRIVE = re.compile(r"[A-Za-z]:|[\\/~]")
_URL = re.compile(r"[A-Za-z][\w+.-]*://")
_DEEPEST = 6
"""Levels of variables and joined parts that are followed to find a path."""

_NETWORK = """
requests urllib.request urllib3 httpx aiohttp socket socketserver ssl http.client http.server ftplib
smtplib poplib imaplib telnetlib xmlrpc websocket websockets paramiko fabric boto3 botocore s3fs
gcsfs adlfs fsspec google.cloud azure openai anthropic yfinance pymongo redis psycopg psycopg2
pymysql mysql oracledb pyodbc sqlalchemy clickhouse_connect snowflake kafka pika huggingface_hub
datasets wandb mlflow kaggle gspread tweepy praw selenium playwright scrapy webbrowser dns ldap3
grpc zmq asyncio.open_connection asyncio.start_server pandas_datareader
"""
_PROCESSES = """
subprocess pty multiprocessing pexpect sh plumbum invoke os.system os.popen os.fork os.startfile
os.kill asyncio.create_subprocess_exec asyncio.create_subprocess_shell joblib.Parallel
concurrent.futures.ProcessPoolExecutor
"""
_WRITES = """
os.mkdir os.makedirs os.rename os.renames os.replace os.link os.symlink os.chmod os.truncate os.open
shutil.copy shutil.copy2 shutil.copyfile shutil.copytree shutil.make_archive shutil.unpack_archive
tempfile sqlite3 dbm shelve logging.FileHandler
"""
_MODULES: dict[str, Kind] = {
    **dict.fromkeys(_NETWORK.split(), "network"),
    **dict.fromkeys(_PROCESSES.split(), "processes"),
    **dict.fromkeys(
        ["os.remove", "os.unlink", "os.rmdir", "os.removedirs", "shutil.move"], "deletes"
    ),
    **dict.fromkeys(_WRITES.split(), "writes"),
}
"""Kinds by full name; a name also covers what is inside it, such as ``requests.get``."""
_NETWORK_LAST = """urlopen urlretrieve from_pretrained to_gbq read_gbq load_dataset fetch_openml
fetch_california_housing fetch_20newsgroups snapshot_download hf_hub_download"""
_WRITES_LAST = """
savefig write_text write_bytes touch mkdir makedirs symlink_to hardlink_to chmod tofile savez
savez_compressed savetxt to_excel to_feather to_parquet to_orc to_hdf to_stata to_pickle to_sql
to_clipboard to_netcdf to_zarr to_file to_disk write_csv write_parquet write_ipc write_json
write_ndjson write_avro write_excel write_database write_delta write_image write_html write_video
sink_csv sink_parquet sink_ipc sink_ndjson save save_model save_pretrained imwrite imsave extractall
dump
"""
_LAST: dict[str, Kind] = {
    **dict.fromkeys(_NETWORK_LAST.split(), "network"),
    **dict.fromkeys(["unlink", "rmdir", "rmtree", "removedirs", "send2trash"], "deletes"),
    **dict.fromkeys(_WRITES_LAST.split(), "writes"),
}
"""Kinds by the last part of a name."""
_TEXTS = frozenset(
    ["to_csv", "to_json", "to_html", "to_latex", "to_xml", "to_markdown", "to_string"]
)
"""Methods that write a file only if they get a path; else they return text."""
_READ_CALLS = """
read_csv read_table read_fwf read_excel read_json read_parquet read_feather read_orc read_hdf
read_stata read_sas read_spss read_xml read_html read_ipc read_ndjson read_avro read_delta
read_file scan_csv scan_parquet scan_ipc scan_ndjson loadtxt genfromtxt fromfile memmap imread
open_dataset open_mfdataset open_zarr listdir scandir ExcelFile walk glob iglob open
"""
_READS = frozenset(_READ_CALLS.split())
"""Calls that read their first argument as a path, by the last part of their name."""
_OF_PATHS = frozenset(["read_text", "read_bytes", "iterdir", "rglob", "glob", "open"])
"""Methods of a path object that read it."""
_PATH_ARGUMENTS = ("filepath_or_buffer", "path_or_buf", "path", "io", "file", "filename", "fname")


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
    magics = list(_of_magics(lines))
    if magics and not is_plain(source):
        yield from magics
    reader = LabelReader(read, folder)
    for node in read.nodes:
        for kind in reader.reached(node):
            yield kind, getattr(node, "lineno", 1)


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


def _of_magics(lines: list[str]) -> Iterator[tuple[Kind, int]]:
    for number, line in enumerate(lines, 1):
        word = line.split(None, 1)[0] if line.startswith("%%") else ""
        if word in _SHELL_CELLS or _SHELL.match(line):
            yield "processes", number
        elif word in ("%%writefile", "%%file"):
            yield "writes", number


class LabelReader:
    """Finds what each name and call of a cell reaches; follows ``import … as``."""

    def __init__(self, source: Source, folder: str) -> None:
        self._source = source
        self._folder = folder
        self._imported: dict[str, str] = {}
        for node in source.nodes:
            if isinstance(node, ast.Import):
                renamed = (alias for alias in node.names if alias.asname)
                self._imported |= {alias.asname or "": alias.name for alias in renamed}
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self._imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def reached(self, node: ast.AST) -> Iterator[Kind]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _of_module(alias.name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield from _of_module(f"{node.module}.{alias.name}")
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            yield from _of_module(self._full(node))
            if isinstance(node, ast.Attribute) and node.attr in _LAST:
                yield _LAST[node.attr]
        elif isinstance(node, ast.Call):
            yield from self._called(node)

    def _full(self, node: ast.expr) -> str:
        first, dot, rest = dotted(node).partition(".")
        return f"{self._imported.get(first, first)}{dot}{rest}"

    def _called(self, call: ast.Call) -> Iterator[Kind]:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        last = call.func.attr if isinstance(call.func, ast.Attribute) else self._full(call.func)
        first = call.args[0] if call.args else None
        place = next(filter(None, (keyword(call, name) for name in _PATH_ARGUMENTS)), first)
        if last in _TEXTS:
            if place is not None and not (isinstance(place, ast.Constant) and place.value is None):
                yield "writes"
            return
        of_path = owner is not None and self._written(owner) is not None
        if last.endswith("open") and self._writes(call, 0 if of_path else 1):
            yield "writes"
        elif of_path and last in _OF_PATHS:
            yield from self._read(owner)
        elif last in _READS:
            yield from self._read(place)

    def _writes(self, call: ast.Call, place: int) -> bool:
        mode = keyword(call, "mode") or next(iter(call.args[place : place + 1]), None)
        text = mode.value if isinstance(mode, ast.Constant) else ""
        return isinstance(text, str) and bool(set(text) & set("wax+"))

    def _read(self, place: ast.expr | None) -> Iterator[Kind]:
        path = None if place is None else self._written(place)
        if path is not None and _URL.match(path):
            yield "network"
        elif path is not None and not _is_inside(path, self._folder):
            yield "reads_outside"

    def _written(self, node: ast.expr, depth: int = _DEEPEST) -> str | None:
        """The path that an expression gives if the code spells it out; else None."""
        if depth == 0:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            values = self._source.values_of(node.id)
            return self._written(values[0], depth - 1) if len(values) == 1 else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Add)):
            one, other = (self._written(side, depth - 1) for side in (node.left, node.right))
            if one is None or other is None:
                return None
            return f"{one}/{other}" if isinstance(node.op, ast.Div) else one + other
        if isinstance(node, ast.Call) and dotted(node.func) in _JOIN:
            parts = [self._written(part, depth - 1) for part in node.args]
            return None if None in parts else "/".join(filter(None, parts))
        return None


_JOIN = ("Path", "pathlib.Path", "os.path.join")


def _of_module(name: str) -> Iterator[Kind]:
    parts = name.split(".")[:3]
    found = (_MODULES.get(".".join(parts[:end])) for end in range(1, len(parts) + 1))
    yield from filter(None, (next(filter(None, found), None),))


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
