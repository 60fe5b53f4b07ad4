"""Tests of ``docs/reliability.md``: a scripted turn is repeated, each time with a fault at another
point. With a real server, a real kernel, and the fake model over HTTP.

story.py the turn: its cells, what a sensible model does, the expected result
page.py     a browser's page: its copy of the notebook, kept as ``src/notebook/live.ts`` keeps it
person.py what a person does after a fault
points.py   when a fault strikes
runs.py     the faults
verdict.py judges a run
site.py the server as a process that can be killed and restarted
soak.py     the memory of many conversations
"""
