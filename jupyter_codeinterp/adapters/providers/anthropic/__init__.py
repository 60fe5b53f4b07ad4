"""A Model over the anthropic SDK, for Anthropic's API and compatible servers.

provider.py      facts that need no connection
model.py         the Model; imports no SDK by itself
credentials.py   which key goes to which address
profile.py       features of an endpoint, and the built-in models
wire.py          a ModelRequest as the body of POST /v1/messages
connection.py    one SDK client. Alone imports it
servers/         other servers that speak the Messages API, as providers

Code independent of the Messages API is in ``adapters/model_http``. Nothing is imported here: the
server's start needs ``provider`` alone.
"""
