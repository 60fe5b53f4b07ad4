"""A Model over the anthropic SDK, for Anthropic's API and servers that speak the same.

provider.py      what is known of it before anything is connected
model.py         the Model: retries, what is known of models; imports no SDK by itself
credentials.py   which key goes to which address
profile.py       what an endpoint is sent, and the models that are known without asking
wire.py          a ModelRequest as the body of POST /v1/messages
connection.py    one client of the SDK; its errors as Faults. Alone imports the SDK
faults.py        what went wrong, in words, and whether to try again
accumulator.py   the raw events of a stream -> ModelEvents; pure
servers/         other servers that speak the Messages API, as providers

Nothing is imported here: the server's start needs ``provider`` alone.
"""
