"""The offline demo: a recorded conversation as a model.

provider.py  the Provider, and its notebooks
model.py     plays the recording; the format of recordings

Nothing is imported here: the server's start needs ``provider`` alone.
"""
