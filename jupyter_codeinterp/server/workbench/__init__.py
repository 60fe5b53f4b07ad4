"""What works in notebooks, without a web server.

settings.py    what an admin sets
workbench.py   all objects, wired on one screen
"""
