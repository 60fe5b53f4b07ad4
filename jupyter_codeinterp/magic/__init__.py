"""``%%ai`` and ``%ai``: the agent inside any IPython process, over the same core.

extension.py   registered by ``%load_ext``; the magic's line, ``%ai models`` and others
typed.py       whether a person typed the magic
earlier.py     the person's earlier cells
assistant.py   the conversation of this process, on its own thread; its models and keys
workplace.py   the conversation's workplace: a notebook in memory, this process, and files
turn_front.py  from a turn's events to a screen
screens.py     the outputs of a cell, and a terminal
review.py      asks the person

The first three import nothing of the agent, to load quickly.
"""
