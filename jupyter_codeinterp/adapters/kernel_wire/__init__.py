"""What all kernel connections share: the ``Wire`` and ``Process`` ports, reading large messages."""

from .port import Expected, Message, Process, Spec, Wire, execute_request, message_of

__all__ = [
    "Expected",
    "Message",
    "Process",
    "Spec",
    "Wire",
    "execute_request",
    "message_of",
]
