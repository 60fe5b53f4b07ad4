"""Kernels in a sandbox: a kernel provisioner of jupyter_client that starts them behind a wall.

``provisioner`` what jupyter_client calls ← ``walls`` that hold a kernel ← the ``network``'s allow
list, the ``overlay`` of files ← what is ``shared``; ``observing`` what a run did; ``install`` and
``doctor`` are for the command line
"""

from __future__ import annotations

import sys
from typing import Any


def is_sandboxed(kernel_manager: Any) -> bool:
    """Whether this manager's kernel runs in the sandbox now.

    The answer comes from the provisioner that launched the process. The kernel, its name and its
    kernelspec have no say.
    """
    # A process that has launched a sandbox has imported the module.
    module: Any = sys.modules.get(f"{__name__}.provisioner")
    provisioner: Any = getattr(kernel_manager, "provisioner", None)
    if module is None or type(provisioner) is not module.SandboxProvisioner:
        return False
    launched: bool = provisioner.launched
    return launched
