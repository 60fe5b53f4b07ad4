"""The conversation of this process.

assistant.py   one session, on an event loop in its own thread; its models and keys
workplace.py   its workplace: a notebook in memory, this process, and files
"""
