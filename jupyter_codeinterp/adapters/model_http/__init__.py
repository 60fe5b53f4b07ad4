"""What models behind HTTP have in common, whatever they speak. Each wire is a provider's.

model.py        the Model: retries, what a model was found to lack, what is known of models
connection.py   one client of an SDK: its errors as Faults, its streams within their bounds
faults.py       what went wrong, in words, and whether to try again
bounded.py      the most bytes, time and blocks of an answer
keys.py         what a key must be
listing.py      what a server says of its models
accumulator.py  the events of the Messages API -> ModelEvents; pure
written.py      events of the Messages API, written
reading.py      values of events that may be of any shape

An answer is read as the events of the Messages API: a wire that has others translates them. So
what is shown, kept and refused of an answer is decided in one place.

Nothing is imported here, and ``model`` alone imports neither an SDK nor the HTTP client.
"""
