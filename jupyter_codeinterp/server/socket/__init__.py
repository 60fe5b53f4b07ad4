"""A window's WebSocket: bytes, commands and the send queue."""
