"""Kernels that pass for sandboxed ones, for tests of what follows from that."""

from __future__ import annotations

import pytest
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

from jupyter_codeinterp.kernel.zmq import process


def sandboxed(monkeypatch: pytest.MonkeyPatch, is_so: bool = True) -> None:
    """Say so of every kernel. Its provisioner then answers as ours does where nothing happened."""
    monkeypatch.setattr(process, "is_sandboxed", lambda manager: is_so)
    answers: dict[str, object] = {
        "written": None,
        "hit": lambda self, error, since: "",
        "connections": lambda self, since: ([], False),
    }
    for name, answer in answers.items():
        monkeypatch.setattr(LocalProvisioner, name, answer, raising=False)
