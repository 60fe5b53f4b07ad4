"""What holds a kernel: ``bubblewrap`` with its ``arguments``. ``launching`` starts its process,
``disk`` stops code that writes too much.
"""
