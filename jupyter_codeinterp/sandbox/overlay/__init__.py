"""An overlay keeps a sandboxed kernel's files outside the notebook's folder.

``layer`` on disk ← ``mounting``, a program that runs before bubblewrap; ``changes`` compares a
layer with the folder; ``keeping`` copies from it into the folder. ``written`` is for a running
kernel, and removes discarded changes after its end. All use ``trees``, which follows no link.
"""
