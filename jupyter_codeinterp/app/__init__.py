"""All objects for work in notebooks, without a web server.

settings.py    the admin's settings, and the models by them
config.py      loads them for programs other than the server
workbench.py   wires all objects
"""
