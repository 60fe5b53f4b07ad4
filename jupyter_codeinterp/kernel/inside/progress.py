"""The progress of engines during a cell. This file's text runs **in the kernel**, in the thread
that answers while a cell runs.

It asks Spark's status tracker and Dask's scheduler. An answer is a list of ``{engine, done, of}``
with numbers of tasks, without idle engines. Standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

PROGRESS = "jupyter_codeinterp.progress"
MOST_JOBS = 20
MOST_STAGES = 200
SECONDS = 0.5
"""Time limit for an answer of Dask's scheduler."""


def progress() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for engine in (spark, dask):
        try:
            found += engine()
        except Exception:  # The engine may be stopping, or ended.
            continue
    return found


def is_loaded() -> bool:
    return "pyspark" in sys.modules or "distributed" in sys.modules


def spark() -> Iterator[dict[str, Any]]:
    """The tasks of all running jobs."""
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    active = getattr(context, "_active_spark_context", None)
    if active is None:
        return
    tracker = active.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in list(tracker.getActiveJobsIds())[:MOST_JOBS]]
    stages = {stage for job in jobs if job is not None for stage in job.stageIds}
    known = [tracker.getStageInfo(stage) for stage in sorted(stages)[:MOST_STAGES]]
    tasks = [stage for stage in known if stage is not None]
    if tasks:
        done = sum(stage.numCompletedTasks for stage in tasks)
        yield told("Spark", done, sum(stage.numTasks for stage in tasks))


def dask() -> Iterator[dict[str, Any]]:
    """All tasks of the scheduler."""
    module = sys.modules.get("distributed.client")
    client = module._get_global_client() if module is not None else None
    if client is None or client.status != "running":
        return
    asked = client._run_on_scheduler
    states = client.sync(asked, counts, wait=True, callback_timeout=SECONDS)
    done = sum(states.get(state, 0) for state in ("memory", "released", "erred"))
    total = sum(states.values())
    if done < total:
        yield told("Dask", done, total)


def counts(dask_scheduler: Any) -> dict[str, int]:
    """Runs in the scheduler: the number of tasks by state."""
    found: dict[str, int] = {}
    for prefix in list(dask_scheduler.task_prefixes.values()):
        for state, number in prefix.states.items():
            if state != "forgotten":
                found[state] = found.get(state, 0) + number
    return found


def told(engine: str, done: int, of: int) -> dict[str, Any]:
    return {"engine": engine, "done": int(done), "of": int(of)}


def register(shell: Any) -> None:
    """Answer each comm opened to ``PROGRESS`` with one message, ``{"progress": [...], "loaded":
    whether there is an engine}``."""

    def answer(comm: Any, _: Any) -> None:
        loaded = is_loaded()
        comm.send({"progress": progress() if loaded else [], "loaded": loaded})
        # Forget it without a published close: each open page would log an unknown comm.
        comm._closed = True
        manager.unregister_comm(comm)

    manager = shell.kernel.comm_manager
    manager.register_target(PROGRESS, answer)


if __name__ == PROGRESS:
    register(sys.modules["IPython"].get_ipython())
