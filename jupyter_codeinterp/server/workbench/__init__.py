"""What works in notebooks, without a web server.

settings.py    what an admin sets
config.py      where it stands, for programs that are no server
models.py      the models of all providers, by that
workbench.py   all objects, wired on one screen
"""
