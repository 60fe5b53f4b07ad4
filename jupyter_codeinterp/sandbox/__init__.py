"""Kernels in a sandbox: a kernel provisioner of jupyter_client that starts them behind a wall.

``provisioner``, which jupyter_client calls ← ``walls`` around a kernel ← the ``network``'s allow
list and the ``overlay`` of files ← ``shared`` parts; ``install`` and ``doctor`` are for the command
line
"""

from __future__ import annotations

import sys
from typing import Any


def is_sandboxed(kernel_manager: Any) -> bool:
    """Whether this manager's kernel runs in the sandbox now.

    Only the provisioner that launched the process decides, not the kernel, its name or its
    kernelspec.
    """
    # A process that has launched a sandbox has imported the module.
    module: Any = sys.modules.get(f"{__name__}.provisioner")
    provisioner: Any = getattr(kernel_manager, "provisioner", None)
    if module is None or type(provisioner) is not module.SandboxProvisioner:
        return False
    launched: bool = provisioner.launched
    return launched
