"""All objects for work in notebooks, without a web server.

settings.py    the admin's settings
config.py      loads them for programs other than the server
models.py      makes the models from them
workbench.py   wires all objects
"""
