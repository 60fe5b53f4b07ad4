"""Writes the kernelspec of a sandboxed kernel."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager

PROVISIONER = "codeinterp-sandbox"


def install(source: str, name: str, *, user: bool) -> tuple[str, str]:
    """Make a sandboxed kernelspec of ``source``, which must be a Python one. ``user``: in the
    user's data folder instead of this environment's. Returns its folder and display name. Raises
    NoSuchKernel or ValueError."""
    specs = KernelSpecManager()
    spec = specs.get_kernel_spec(source)
    if spec.language.lower() != "python":
        raise ValueError(f"{source} is a kernel for {spec.language}. The sandbox is for Python.")
    if "kernel_provisioner" in spec.metadata:
        raise ValueError(f"{source} has a provisioner already.")
    title = f"{spec.display_name.removesuffix(' (ipykernel)')} (sandboxed)"
    written = {
        **spec.to_dict(),
        "display_name": title,
        "metadata": {**spec.metadata, "kernel_provisioner": {"provisioner_name": PROVISIONER}},
    }
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, name)
        shutil.copytree(spec.resource_dir, made)
        (made / "kernel.json").write_text(json.dumps(written, indent=1), encoding="utf-8")
        prefix = None if user else sys.prefix
        return specs.install_kernel_spec(str(made), name, user=user, prefix=prefix), title
