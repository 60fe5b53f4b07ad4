"""The offline demo: a recorded conversation as a model.

provider.py   what is known of it, and the notebooks that are its own
model.py      plays the recording
recording.py  the format of recordings

Nothing is imported here: the server's start needs ``provider`` alone.
"""
