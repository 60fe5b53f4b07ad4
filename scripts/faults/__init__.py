"""What ``docs/reliability.md`` says, tried out: a scripted turn, again and again, each time
with a fault at another point of it; real server, real kernel, the fake model over HTTP.

story.py    the turn: its cells, what a sensible model does, what must come of it
page.py     a browser's page: its copy of the notebook, kept as ``src/notebook/live.ts`` keeps it
person.py   what a person does when something has gone wrong
points.py   when a fault strikes
runs.py     the faults
verdict.py  what has become of a run
site.py     the server as a process that can be killed, and started again
soak.py     the memory of many conversations
"""
