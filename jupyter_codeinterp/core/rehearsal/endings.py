"""What people read of a rehearsal: why there was none, and how it ended. Two tables."""

from __future__ import annotations

REFUSED = {
    # a code of the kernel's, as in ``kernel_side/forks/preflight.py`` and ``rehearsing.py``
    "not_linux": "Not tried: this works only on Linux.",
    "not_main_thread": "Not tried: the kernel runs code outside its main thread.",
    "thread": "Not tried: the thread “{}” runs in the kernel.",
    "task": "Not tried: the asyncio task “{}” waits in the kernel.",
    "pool": "Not tried: native threads run in the kernel ({}).",
    "gpu": "Not tried: the kernel uses a GPU ({}).",
    "shared_memory": "Not tried: the kernel shares memory with a file ({}).",
    "memory": "Not tried: there is not enough memory ({}).",
    "hidden": "Not tried: this kernel's sandbox (Landlock) cannot hold a fork. bubblewrap's can.",
    "walls": "Not tried: this system cannot hold back what the code does ({}).",
    "landlock": "Not tried: Landlock alone holds this kernel. Trying needs bubblewrap.",
    "busy": "Not tried: the kernel is busy.",
    "slow": "Not tried: the kernel did not answer in time.",
    "other_language": "Not tried: this works only in Python kernels.",
    "in_process": "Not tried: the agent works inside of this kernel.",
    "no_kernel": "Not tried: the notebook has no running kernel.",
    "failed": "Not tried: the kernel could not do it ({}).",
}
ENDED = {
    # how a rehearsal ended: as in ``kernel_side/forks/follow.py``, or what its code came to
    "done": "",
    "error": "The code fails.",
    "stopped": "Stopped where the code would {}.",
    "timeout": "Stopped after {} s.",
    "stalled": "Stopped: the code waits for a thread that a rehearsal does not have.",
    "too_much": "Stopped: too much output.",
    "interrupted": "Stopped.",
    "crashed": "The code ended the process.",
}
REACHES = {
    # what the code would do: what it is called, before a name
    "write": "write",
    "delete": "delete",
    "move": "move",
    "change": "change the attributes of",
    "connect": "connect to",
    "listen": "listen at",
    "start": "start a program:",
    "signal": "signal the process",
}
WITHOUT_NAME = "see below"
"""In place of a name that the model reads elsewhere, as data."""
NO_RESULT = "Not tried: the kernel gave no readable answer."


def refused(code: str, detail: str) -> str:
    return REFUSED.get(code, NO_RESULT).format(detail)


def reach(what: str, name: str) -> str:
    return f"{REACHES[what]} {name}".strip(" :")
