"""A window's WebSocket: its bytes, its commands, and what waits to be sent."""
