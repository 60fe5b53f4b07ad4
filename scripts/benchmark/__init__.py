"""The benchmark behind scripts/bench.

figures.py    figures, bounds, when one is worse      report.py   the table, and the document
pace.py       the unit of times                       last.py     the last figures (last.json)
servers.py    Jupyter servers as processes            workplace.py  server, kernel, window, model
All other files measure one thing each; `__main__.py` lists them.
"""
