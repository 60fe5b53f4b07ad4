"""What all kernel connections share: the ``Wire`` and ``Process`` ports, reading large messages."""

from .port import Expected, KernelMessage, Process, Spec, Wire, execute_request, message_of

__all__ = [
    "Expected",
    "KernelMessage",
    "Process",
    "Spec",
    "Wire",
    "execute_request",
    "message_of",
]
