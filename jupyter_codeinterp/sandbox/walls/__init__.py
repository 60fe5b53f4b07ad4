"""What holds a kernel: ``bubblewrap`` with its ``arguments``, ``enclosed`` behind ``landlock`` with
a ``watcher``, or ``macos`` with the profile of ``seatbelt`` and a ``supervisor``; ``launching``
starts a process, ``starting`` says for which kernel, and ``names`` them. ``disk`` stops code that
writes too much.
"""
