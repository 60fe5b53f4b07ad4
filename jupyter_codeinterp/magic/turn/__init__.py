"""The conversation of this process.

assistant.py   one session, on an event loop in its own thread
place.py       its workplace: a notebook in memory, this process, and files
models.py      models and keys
"""
