"""What holds a kernel: ``bubblewrap`` with its ``arguments``, or ``enclosed`` behind ``landlock``
with a ``watcher``; ``launching`` starts either, ``starting`` says what, and ``names`` them.
``disk`` stops code that writes too much.
"""
