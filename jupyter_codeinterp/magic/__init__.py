"""``%%ai`` and ``%ai``: the agent inside any IPython process, over the same core.

extension.py   registered by ``%load_ext``        completion.py   Tab
commands.py    ``%ai fix``, ``%ai models``, …

asking/        the prompt and its context
kept/          answers that a person took, used again without a model
turn/          the conversation of this process, on its own thread
front/         display and decisions
"""
