"""Five questions about a large table of an engine: the memory of server and kernel, and the time
that each takes."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread

import psutil

from scripts.benchmark.workplace import Workplace, show_panel, workplace
from scripts.tables import table
from tests.fake_anthropic import Request, Turn, answer, run_cell, text

ROWS = 50_000_000
PARTS = 100
PATIENCE = 900.0
"""Seconds that a question may take."""
MEGABYTE = 2**20
SERVER_MOST = 30
"""MB by which the server may grow."""
KERNEL_MOST = 100
"""MB by which the kernel may grow once the engine has started. The whole table has 1,200."""
MAKES = {
    "spark": """
from pyspark.sql import SparkSession, functions as F
session = SparkSession.builder.master('local[2]').getOrCreate()
session.sparkContext.setLogLevel('ERROR')
orders = session.range(0, {rows}, numPartitions={parts}).select(
    'id', (F.col('id') % 40).alias('shop'), (F.col('id') % 100).alias('amount'))
""",
    "dask": """
import dask, numpy, pandas
import dask.dataframe as dd
from distributed import Client, LocalCluster
cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
client = Client(cluster)
def make(part):
    ids = numpy.arange(part * {rows} // {parts}, (part + 1) * {rows} // {parts})
    return pandas.DataFrame({{'id': ids, 'shop': ids % 40, 'amount': ids % 100}})
orders = dd.from_map(make, range({parts}), meta=make(0).iloc[:0])
""",
}
QUESTIONS = {
    "spark": (
        "orders.count()",
        "orders.agg(F.sum('amount')).first()[0]",
        "orders.filter('amount > 90').count()",
        "orders.groupBy('shop').count().orderBy('shop').limit(3).collect()[2]['count']",
        "orders.agg(F.max('id')).first()[0]",
    ),
    "dask": (
        "len(orders)",
        "orders.amount.sum().compute()",
        "(orders.amount > 90).sum().compute()",
        "orders.groupby('shop').size().compute().sort_index().head(3)[2]",
        "orders.id.max().compute()",
    ),
}


def answers(rows: int) -> tuple[int, ...]:
    return (rows, rows // 100 * 4950, rows // 100 * 9, rows // 40, rows - 1)


@dataclass
class Memory:
    """The largest growth of a process since the beginning, in MB. Other processes that it has
    started are not in it."""

    process: psutil.Process
    before: int = 0
    most: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def growth(self) -> float:
        return (self.most - self.before) / MEGABYTE

    def begin(self) -> None:
        self.before = self.most = self.process.memory_info().rss

    def look(self) -> None:
        self.most = max(self.most, self.process.memory_info().rss)


@contextmanager
def watched(memories: list[Memory]) -> Iterator[None]:
    ended = Event()

    def look() -> None:
        while not ended.wait(0.05):
            for memory in memories:
                memory.look()

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class Story:
    """A model that runs the cells of one list, one a turn, and answers with what they show."""

    def __init__(self, cells: list[str]) -> None:
        self._cells = iter(cells)
        self.shown: list[str] = []

    def model(self, request: Request) -> Turn:
        if request.step == 0:
            return answer(run_cell(next(self._cells), title="Count"))
        self.shown.append(request.results[-1])
        return answer(text("There it is."))


async def measure(engine: str, rows: int) -> list[str]:
    """Print a table. Returns what is wrong."""
    make = MAKES[engine].format(rows=rows, parts=PARTS)
    asks = [f"print('answer', int({question}))" for question in QUESTIONS[engine]]
    story = Story(["x = 1", make, *asks])
    async with workplace(story.model) as place:
        place.window.patience = PATIENCE
        await show_panel(place.server)
        await place.turn("Begin.")
        server = Memory(psutil.Process(place.server.pid))
        kernel = Memory(_kernel_of(place))
        server.begin()
        with watched([server, kernel]):
            await place.turn("Make the table.")
            kernel.begin()
            seconds = [await timed(place) for _ in asks]
    wrong = [
        f"{engine}: {question} gave {shown!r:.300}, and {right} is right"
        for question, shown, right in zip(
            QUESTIONS[engine], story.shown[2:], answers(rows), strict=True
        )
        if f"answer {right}\n" not in f"{shown}\n"
    ]
    grown = (("server", server, SERVER_MOST), ("kernel", kernel, KERNEL_MOST))
    for name, memory, most in grown:
        if memory.growth > most:
            wrong.append(f"{engine}: the {name} grew by {memory.growth:.0f} MB, more than {most}")
    lines = [(question, f"{took:.1f} s") for question, took in zip(asks, seconds, strict=True)]
    lines += [(f"{name} grew by", f"{memory.growth:.1f} MB") for name, memory, _ in grown]
    print(table([(f"{engine}: {rows:,} rows", ""), *lines]), flush=True)
    return wrong


def _kernel_of(place: Workplace) -> psutil.Process:
    (kernel,) = psutil.Process(place.server.pid).children()
    return kernel


async def timed(place: Workplace) -> float:
    began = time.monotonic()
    await place.turn("And this?")
    return time.monotonic() - began


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/large_tables", description=__doc__)
    parser.add_argument("--only", choices=list(MAKES))
    parser.add_argument("--rows", type=int, default=ROWS, help="a multiple of 4,000")
    options = parser.parse_args()
    wrong: list[str] = []
    for engine in [options.only] if options.only else MAKES:
        wrong += asyncio.run(measure(engine, options.rows))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
