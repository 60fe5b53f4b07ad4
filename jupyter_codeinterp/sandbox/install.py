"""Writes and finds the kernelspec of a sandboxed kernel."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager

PROVISIONER = "codeinterp-sandbox"
NAME = "python3-sandboxed"
"""The sandboxed kernelspec of the usual kernel."""


def installed(specs: KernelSpecManager) -> str:
    """The name of the sandboxed kernelspec (by its provisioner): ``NAME``, or the first one; "" if
    there is none."""
    found = [
        name
        for name, one in specs.get_all_specs().items()
        if _provisioner(one["spec"].get("metadata")) == PROVISIONER
    ]
    return NAME if NAME in found else min(found, default="")


def _provisioner(metadata: object) -> object:
    """The provisioner's name in a kernelspec's metadata."""
    named = metadata.get("kernel_provisioner") if isinstance(metadata, dict) else None
    return named.get("provisioner_name") if isinstance(named, dict) else None


def install(source: str, *, user: bool, overlay: bool = False) -> tuple[str, str]:
    """Make the kernelspec ``SOURCE-sandboxed`` or ``SOURCE-overlay`` of ``source``, which must be a
    Python one. ``user``: in the user's data folder instead of this environment's. ``overlay``: the
    kernel's files wait outside the notebook's folder. Returns the kernelspec's folder and display
    name. Raises NoSuchKernel or ValueError."""
    specs = KernelSpecManager()
    spec = specs.get_kernel_spec(source)
    if spec.language.lower() != "python":
        raise ValueError(f"{source} is a kernel for {spec.language}. The sandbox is for Python.")
    if "kernel_provisioner" in spec.metadata:
        raise ValueError(f"{source} has a provisioner already.")
    kind = "sandboxed" + (", with an overlay" if overlay else "")
    name = f"{source}-{'overlay' if overlay else 'sandboxed'}"
    title = f"{spec.display_name.removesuffix(' (ipykernel)')} ({kind})"
    provisioner: dict[str, Any] = {"provisioner_name": PROVISIONER}
    if overlay:
        provisioner["config"] = {"overlay": True}
    written = {
        **spec.to_dict(),
        "display_name": title,
        "metadata": {**spec.metadata, "kernel_provisioner": provisioner},
    }
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, name)
        shutil.copytree(spec.resource_dir, made)
        (made / "kernel.json").write_text(json.dumps(written, indent=1), encoding="utf-8")
        prefix = None if user else sys.prefix
        return specs.install_kernel_spec(str(made), name, user=user, prefix=prefix), title
