"""Models for code in kernels: the Messages API, with a token for each kernel and no key in it.

tokens.py     who may ask: a token a kernel, what it may cost, the kernel's environment
messages.py   the Messages API's shapes, from and to the core's
handler.py    the route
"""
