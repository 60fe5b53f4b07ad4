"""The common part of all models behind HTTP. Each provider has its own wire.

model.py        the Model: retries, refusals to remember, information about models
connection.py   one SDK client: its errors as Faults, its streams within limits
faults.py       error messages, and whether to try again
bounded.py      limits on bytes, time and blocks of an answer
keys.py         checks keys for HTTP headers
listing.py      parses a server's list of models
accumulator.py  the events of the Messages API -> ModelEvents; pure
events.py       writes events of the Messages API, and reads values of any events
facts.py        prices and abilities of models
files.py        replaces images and PDFs that a model does not accept
markup.py       finds thinking and calls that a server sent as text

Every wire translates its answers into events of the Messages API, so one place decides what is
shown, kept and refused.

This file imports nothing; ``model`` imports neither an SDK nor the HTTP client.
"""
