"""The part that all models behind HTTP share. Each API's adapter is in ``anthropic`` or ``openai``.

service.py     one row for each service; which key goes to which address
provider.py    a service as a provider
model.py       the models of one server over an SDK's client, for each API to extend: requests,
               retries, refusals to remember, errors as Faults, information about models
answer.py      builds the message of a streamed answer, and the events to show
faults.py      error messages, and whether to try again
bounded.py     limits on bytes and time of an answer
listing.py     parses a server's list of models
facts.py       prices and abilities of models
files.py       replaces images and PDFs that a model does not accept

This file imports nothing; ``service`` and ``provider`` import neither an SDK nor the HTTP client.
"""
