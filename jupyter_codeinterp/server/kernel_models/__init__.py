"""Models for ``%%ai`` in kernels, with a token per kernel instead of keys.

tokens.py      tokens, cost limits and the kernels' environment
handler.py     routes; ``adapters/providers/jupyter_server.py`` is the kernel's end
wiring.py      connects all this to the server
"""
