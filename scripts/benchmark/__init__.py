"""The benchmark behind scripts/bench.

figures.py    figures, bounds, the table      report.py   the table in the document
servers.py    Jupyter servers as processes    workplace.py  server, kernel, window, fake model
steps.py, task.py, start.py, bundle.py, install.py, status.py (poll.py), attach.py,
many.py (many_model.py, many_windows.py), browser.py (browser.mjs)
              what is measured, one thing each
"""
