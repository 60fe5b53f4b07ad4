"""The conversation of this process.

assistant.py   one session, on an event loop beside the thread that a magic blocks
place.py       what it works on: a notebook in memory, this process, the files beside it
models.py      which model answers, and with which key
"""
