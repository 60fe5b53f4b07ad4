"""Which reports of code cells the server takes, and what it answers."""

from __future__ import annotations

from jupyter_codeinterp.notebook.live import LiveNotebook, WindowState
from jupyter_codeinterp.session.server.windows import ReportedCells
from jupyter_codeinterp.wire import commands as c
from tests.test_room_document import World

PATH = "a.ipynb"
SOURCES = {"a": "x = 1", "b": "print(x)"}


class Tab:
    """A window that keeps what the server sends."""

    def __init__(
        self,
        notebook: LiveNotebook,
        cells: ReportedCells,
        collaborative: bool = False,
        kernel: str = "k1",
    ) -> None:
        self.frames: list[c.ServerFrame] = []
        self._notebook, self._cells = notebook, cells
        notebook.open(self, WindowState({}, kernel, collaborative=collaborative))

    def send(self, frame: c.ServerFrame) -> None:
        self.frames.append(frame)

    def report(self, *ran: str, kernel: str = "k1") -> None:
        """``ran``: cells with their execution counts, as in ``a1``. ``a`` is edited each time."""
        runs: list[c.BegunRun] = []
        for one in ran:
            if one[0] == "a":
                SOURCES["a"] = f"x = {one[1:]}"
            runs.append(c.BegunRun(one[0], int(one[1:]), SOURCES[one[0]]))
        known = {"a": SOURCES["a"]} if self.stale else dict(SOURCES)
        order = tuple(SOURCES)
        command = c.CodeCells(PATH, kernel, order, known, tuple(runs))
        self._cells.report(self, self._notebook, command)

    @property
    def stale(self) -> list[tuple[str, ...]]:
        """The marked cells of each answer."""
        answers = [frame for frame in self.frames if isinstance(frame, c.StaleCells)]
        return [tuple(cell.cell_id for cell in frame.cells) for frame in answers]


async def test_a_report_is_answered_if_other_cells_are_stale() -> None:
    tab = Tab(LiveNotebook(PATH), ReportedCells())
    tab.report("a1", "b2")
    tab.report("a3")
    tab.report()
    assert tab.stale == [(), ("b",)]
    tab.report("b4")
    assert tab.stale == [(), ("b",), ()]


async def test_the_first_run_after_a_restart_forgets_those_of_its_kernel_alone() -> None:
    tab = Tab(LiveNotebook(PATH), ReportedCells())
    tab.report("a1", "b2", "a3")
    tab.report("b1", kernel="other")
    tab.report()
    tab.report("b1")
    assert tab.stale == [("b",), (), ("b",), ()]


async def test_only_the_window_that_the_agent_works_in_is_heard() -> None:
    notebook, cells = LiveNotebook(PATH), ReportedCells()
    first, second = Tab(notebook, cells), Tab(notebook, cells)
    second.report("a1", "b2", "a3")
    first.report()
    assert (first.stale, second.stale) == ([()], [])
    cells.report(first, None, c.CodeCells("gone.ipynb", "k1", ()))
    assert len(first.stale) == 1


async def test_in_a_shared_notebook_all_windows_are_heard_and_told() -> None:
    notebook, cells = LiveNotebook(PATH, World()), ReportedCells()
    ada, bert = Tab(notebook, cells, True), Tab(notebook, cells, True)
    ada.report("a1", "b2")
    bert.report()
    bert.report("a3")
    assert ada.stale == bert.stale == [(), ("b",)]
    ada.report("b4")
    assert ada.stale == bert.stale == [(), ("b",), ()]
    alone = Tab(notebook, cells)
    alone.report("a5")
    assert len(ada.stale) == 3, "its copy is another one"


async def test_a_view_without_a_kernel_erases_nobodys_marks() -> None:
    notebook, cells = LiveNotebook(PATH, World()), ReportedCells()
    ada, bert = Tab(notebook, cells, True), Tab(notebook, cells, True, kernel="")
    ada.report("a1", "b2", "a3")
    bert.report(kernel="")
    assert (ada.stale, bert.stale) == ([("b",)], [()])
    notebook.kernel_of(bert, "k1")
    bert.report()
    ada.report("b4")
    assert (ada.stale, bert.stale) == ([("b",), ()], [(), ("b",), ()])


def test_the_server_keeps_few_kernels_and_notebooks() -> None:
    cells = ReportedCells()
    for number in range(200):
        cells.watch.ran(f"k{number}", "a", 1, "x = 1")
        cells.watch.report(f"{number}.ipynb", ["a"], {"a": "x = 1"})
    assert not cells.watch.knows("0.ipynb") and cells.watch.knows("199.ipynb")
