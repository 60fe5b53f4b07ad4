"""Forks of the live kernel. Everything but this file runs **in the kernel**, on Linux only."""

REHEARSE = "jupyter_codeinterp.rehearse"
_FORKS = (
    "preflight", "bpf", "filter", "reached", "walls", "capture", "child", "follow", "rehearse",
)  # fmt: skip
REHEARSE_FILES = (
    *("engines/facts", "engines/sizes", "variables", "watching/changes"),
    *(f"forks/{name}" for name in _FORKS),
)
"""In the order of their imports."""
