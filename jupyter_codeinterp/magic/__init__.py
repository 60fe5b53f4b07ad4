"""``%%ai`` and ``%ai``: the agent inside any IPython process, over the same core.

extension.py   registered by ``%load_ext``
commands.py    ``%ai fix``, ``%ai models``, …; Tab completion

asking/        the prompt and its context
kept.py        accepted answers, reused without a model
turn/          the conversation of this process, on its own thread
front/         display and decisions
"""
