"""The benchmark behind scripts/bench.

figures.py    figures and bounds
servers.py    Jupyter servers as processes
workplace.py  server, kernel, window, model
All other files measure one thing each; `__main__.py` lists them.
"""
