"""Servers that speak the Messages API besides Anthropic's own.

table.py     one row each: address, header, key
provider.py  a row as a Provider
looking.py   which of those on this machine answer

Nothing is imported here: the server's start needs ``provider`` and ``looking``.
"""
