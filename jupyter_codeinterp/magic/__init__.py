"""``%%ai`` and ``%ai``: the agent inside the process of any IPython, over the same core.

extension.py   what ``%load_ext`` registers        completion.py   Tab
commands.py    ``%ai fix``, ``%ai models``, …

asking/        what is asked, and what goes with it
turn/          the conversation of this process, beside the thread that the magic blocks
front/         what people see of it, and how they decide
"""
