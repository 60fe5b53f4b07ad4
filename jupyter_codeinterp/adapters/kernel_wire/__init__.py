"""What connections to kernels share: their port, and how they read large messages."""

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
