"""Models for code in kernels, through the Messages API, with a token per kernel instead of keys.

tokens.py     tokens, cost limits and the kernels' environment
messages.py   converts between the Messages API and the core
handler.py    routes
wiring.py     connects all this to the server
"""
