"""Implementations of the ``NotebookDocument`` port: open in a browser, a shared room, a file,
memory."""
