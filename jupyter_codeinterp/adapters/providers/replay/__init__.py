"""The offline demo: a recorded conversation as a model.

provider.py   facts about it, and its notebooks
model.py      plays the recording
recording.py  the format of recordings
searching.py  what a recording looks for in results, in bounded time

Nothing is imported here: the server's start needs ``provider`` alone.
"""
