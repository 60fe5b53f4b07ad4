"""Tasks for ``eval``.

A task is a folder: ``task.json``, the data, and ``nb.ipynb`` if the person already has a notebook.
The checks are data: no text of a task is ever evaluated.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Union

import msgspec

from ...cli.local.problems import USAGE, Problem

FILE = "task.json"
SHIPPED = Path(__file__).parent / "tasks"


class ExpectedValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An expected value: ``near`` or ``texts``.

    near    numbers; one must occur, at most ``within`` off
    texts   texts; one must occur, in upper or lower case
    name    for answers: the value must be in the last ``@name[…]``; "": anywhere in the answers
    """

    near: tuple[float, ...] = ()
    within: float = 0.0
    texts: tuple[str, ...] = ()
    name: str = ""

    def __str__(self) -> str:
        found = self.texts or [f"{number:.12g}" for number in self.near]
        return " or ".join(found) + (f" ± {self.within:g}" if self.within else "")


class TaskSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``task.json``.

    questions  in order, in one conversation
    answer     values in the answers
    variables  by name, in the kernel at the end: numbers and texts
    outputs    by cell id: the cell's outputs at the end must have the value
    files      by path in the folder: whether it must exist (true) or must not (false)
    unchanged  true: all initial cells and their order; or the ids of cells
    picture    a picture must be among the outputs
    no_code    no code may run
    """

    about: str
    questions: tuple[str, ...]
    notebook: str = "nb.ipynb"
    answer: tuple[ExpectedValue, ...] = ()
    variables: dict[str, ExpectedValue] = {}
    outputs: dict[str, ExpectedValue] = {}
    files: dict[str, bool] = {}
    unchanged: Union[bool, tuple[str, ...]] = False
    picture: bool = False
    no_code: bool = False

    def __post_init__(self) -> None:
        values = (*self.answer, *self.variables.values(), *self.outputs.values())
        if not self.questions or not all(question.strip() for question in self.questions):
            raise ValueError("it has no question")
        if any(bool(value.near) == bool(value.texts) for value in values):
            raise ValueError("each value needs near or texts")
        for path in map(PurePosixPath, (*self.files, self.notebook)):
            if path.is_absolute() or not path.name or ".." in path.parts or "\\" in str(path):
                raise ValueError(f"{str(path)!r} is not a path in its folder")
        if not (values or self.files or self.unchanged or self.picture or self.no_code):
            raise ValueError("it checks nothing")


class Task(msgspec.Struct, frozen=True):
    name: str
    folder: Path
    spec: TaskSpec


def load(folder: Path) -> Task:
    """Raises Problem for a malformed ``task.json``, and OSError."""
    file = folder / FILE
    try:
        spec = msgspec.json.decode(file.read_bytes(), type=TaskSpec)
    except (ValueError, RecursionError) as error:
        raise Problem(f"{file} is not a task: {error}.", USAGE) from None
    return Task(folder.name, folder, spec)


def find(names: list[str]) -> list[Task]:
    """The tasks with these names or in these folders; without names, all of this package. Raises
    Problem."""
    shipped = {folder.name: folder for folder in _folders(SHIPPED)}
    found: dict[str, Task] = {}
    for name in names or shipped:
        folders = [shipped[name]] if name in shipped else _folders(Path(name))
        if not folders:
            words = f"{name} is no task and no folder of tasks. Tasks of this package: "
            raise Problem(words + ", ".join(shipped), USAGE)
        for folder in folders:
            if found.setdefault(folder.name, task := load(folder)).folder != task.folder:
                raise Problem(f"Two tasks are named {task.name}. Run one of them alone.", USAGE)
    return list(found.values())


def _folders(place: Path) -> list[Path]:
    """``place`` if it is a task, else the tasks in it."""
    place = place.absolute()
    if (place / FILE).is_file():
        return [place]
    return sorted(file.parent for file in place.glob(f"*/{FILE}"))
