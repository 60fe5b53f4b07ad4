"""Walls around a kernel: ``bubblewrap`` with its ``arguments``, ``launching`` of its process, and
``disk``, which stops code that writes too much.
"""
