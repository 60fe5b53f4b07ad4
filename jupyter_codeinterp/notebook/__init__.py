"""Implementations of the ``Document`` port: open in a browser, a shared room, a file, memory."""
