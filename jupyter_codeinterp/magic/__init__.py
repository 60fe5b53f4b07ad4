"""``%%ai`` and ``%ai``: the agent inside any IPython process, over the same core.

extension.py   registered by ``%load_ext``; ``%ai models`` and others

asking/        the prompt and its context
turn/          the conversation of this process, on its own thread
front/         display and decisions
"""
